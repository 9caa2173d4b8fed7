# fairgate and pushfeed: `docker build --target pushfeed .` or `--target fairgate`.
FROM rust:1.94-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package pushfeed --package fairgate-cli

FROM debian:bookworm-slim AS base
RUN useradd --system --no-create-home app
USER app

FROM base AS fairgate
COPY --from=build /src/target/release/fairgate /usr/local/bin/fairgate
ENTRYPOINT ["fairgate"]

FROM base AS pushfeed
COPY --from=build /src/target/release/pushfeed /usr/local/bin/pushfeed
EXPOSE 8485
ENTRYPOINT ["pushfeed"]
CMD ["run"]
