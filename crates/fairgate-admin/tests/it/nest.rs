//! Links follow where the router is mounted.

use crate::site::Site;

#[tokio::test]
async fn nested_pages_link_to_themselves() {
    let mut site = Site::new().await.nested("/ops/fairgate");
    site.stage("a", 1).await;
    for path in ["/ops/fairgate", "/ops/fairgate/policies/p", "/ops/fairgate/partitions/p?key=a"] {
        let page = site.page(path).await;
        for link in page
            .split("href=\"")
            .skip(1)
            .chain(page.split("action=\"").skip(1))
            .chain(page.split("src=\"").skip(1))
        {
            assert!(
                link.starts_with("/ops/fairgate/")
                    || link.starts_with("/ops/fairgate\"")
                    || link.starts_with("/ops/fairgate?")
                    || link.starts_with('#'),
                "{path}: {}",
                &link[..60]
            );
        }
    }
    let answer = site.post("/ops/fairgate/policies/p", "/ops/fairgate/policies/p/pause", &[]).await;
    assert_eq!(answer.place(), "/ops/fairgate/policies/p");
    assert!(site.page("/ops/fairgate/policies/p").await.contains("is paused"));
}

#[tokio::test]
async fn assets_are_served_under_the_addresses_that_pages_name() {
    let mut site = Site::new().await.nested("/x");
    let page = site.page("/x").await;
    let links =
        page.split("\"/x/assets/").skip(1).map(|rest| rest.split('"').next().expect("a quote").to_owned());
    let links: Vec<String> = links.collect();
    assert_eq!(links.len(), 5);
    for link in links {
        let answer = site.get(&format!("/x/assets/{link}")).await;
        assert_eq!(answer.status, 200, "{link}");
        assert!(answer.headers["cache-control"].to_str().expect("text").contains("immutable"));
    }
    assert_eq!(site.get("/x/assets/0/style.css").await.status, 404);
}
