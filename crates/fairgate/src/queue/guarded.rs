use super::{Bounds, Event, Ident, Queue};

/// A queue whose workers hold a [`Guard`](crate::guard::Guard) around every job: starts and ends that its triggers do not show, they report. So policies may need
/// them: an adaptive gate, fairness by worker time, a limit of waiting jobs.
///
/// Use it only where all workers do: a job of a worker without a guard never begins, for the engine.
#[derive(Debug, Clone)]
pub struct Guarded<Q>(Q);

impl<Q: Queue> Guarded<Q> {
    /// Registers `queue` as one whose workers report.
    #[must_use]
    pub fn new(queue: Q) -> Self {
        Self(queue)
    }
}

impl<Q: Queue> Queue for Guarded<Q> {
    fn shows(&self) -> &'static [Event] {
        use Event::{Dead, Failed, Removed, Started, Succeeded};
        let shown = |event| self.0.shows().contains(&event);
        match (shown(Failed), shown(Removed)) {
            (true, true) => Event::ALL,
            (true, false) => &[Started, Succeeded, Failed, Dead],
            (false, true) => &[Started, Succeeded, Dead, Removed],
            (false, false) => &[Started, Succeeded, Dead],
        }
    }

    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn schema(&self) -> &Ident {
        self.0.schema()
    }

    fn bounds(&self) -> Bounds {
        self.0.bounds()
    }

    fn settings(&self) -> serde_json::Value {
        self.0.settings()
    }

    fn queue_id(&self) -> String {
        self.0.queue_id()
    }

    fn enqueue(&self) -> String {
        self.0.enqueue()
    }

    fn hooks(&self) -> Option<String> {
        self.0.hooks()
    }

    fn unhook(&self) -> Option<String> {
        self.0.unhook()
    }

    fn live(&self) -> String {
        self.0.live()
    }

    fn shape(&self) -> String {
        self.0.shape()
    }

    fn probe(&self) -> Option<String> {
        self.0.probe()
    }

    fn ailments(&self) -> Vec<String> {
        self.0.ailments()
    }

    fn triggers(&self) -> Vec<(String, String)> {
        self.0.triggers()
    }
}
