//! The search that several archives have in common.

use fleetblast_report::archive_options::{ArchiveOption, COMPOSITION, ITERATION, SEARCH_SPACE};
use fleetblast_report::archive_reader::{StoredRequest, StoredSubjects};
use fleetblast_stats::program::BlastProgram;

use crate::stored_search::StoredOptions;

/// Options that differ between the archives of one search: batches have their own search space, and
/// psiblast numbers its iterations.
const OF_BATCHES: [&str; 2] = [SEARCH_SPACE, ITERATION];

/// The search of an archive, without its queries.
pub struct CommonSearch {
    program: BlastProgram,
    service: String,
    subjects: StoredSubjects,
    options: Vec<ArchiveOption>,
}

impl CommonSearch {
    /// Returns the search of an archive.
    pub fn new(request: &StoredRequest) -> Self {
        Self {
            program: request.program,
            service: request.service.clone(),
            subjects: request.subjects.clone(),
            options: request.options.clone(),
        }
    }

    /// Names the first property in which the search of another archive differs, such as `service`
    /// or `option WordSize`; `None` if it is the same search.
    pub fn difference(&self, other: &StoredRequest) -> Option<String> {
        let fields = [
            ("program", self.program != other.program),
            ("service", self.service != other.service),
            ("subjects", self.subjects != other.subjects),
        ];
        if let Some((field, _)) = fields.into_iter().find(|(_, differs)| *differs) {
            return Some(field.to_owned());
        }
        let own = StoredOptions(&self.options);
        let others = StoredOptions(&other.options);
        let is_common = |name: &&str| {
            // psiblast changes it after its first iteration.
            let is_of_iteration = other.iteration().is_some() && *name == COMPOSITION;
            !OF_BATCHES.contains(name) && !is_of_iteration
        };
        let all = self.options.iter().chain(&other.options).map(|option| option.name.as_str());
        let different = all.filter(is_common).find(|name| own.value(name) != others.value(name));
        different.map(|name| format!("option {name}"))
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_report::archive_options::OptionValue;
    use fleetblast_report::archive_reader::StoredQueries;

    use super::*;

    fn request(service: &str, database: &str, options: &[(&str, i64)]) -> StoredRequest {
        let option =
            |&(name, value): &(&str, i64)| ArchiveOption::new(name, OptionValue::Integer(value));
        StoredRequest {
            program: BlastProgram::from_stored("blastp", service).expect("a search"),
            service: service.to_owned(),
            queries: StoredQueries::Locations,
            subjects: StoredSubjects::Database(database.into()),
            options: options.iter().map(option).collect(),
            searched_range: None,
        }
    }

    #[test]
    fn batches_and_iterations_have_one_search() {
        let common = |service: &str, of: &[(&str, i64)], other: &[(&str, i64)]| {
            CommonSearch::new(&request(service, "d", of)).difference(&request(service, "d", other))
        };
        let spaces = [[("EffectiveSearchSpace", 1)], [("EffectiveSearchSpace", 2)]];
        assert_eq!(common("plain", &spaces[0], &spaces[1]), None);
        let [first, second] = [1, 2].map(|step| {
            [("Web_StepNumber", step), ("CompositionBasedStats", 3 - step), ("WordSize", 3)]
        });
        assert_eq!(common("psi", &first, &second), None);
        let different = Some("option CompositionBasedStats".to_owned());
        assert_eq!(common("plain", &first, &second), different);
        // The last value counts.
        assert_eq!(common("plain", &[("A", 1), ("A", 2)], &[("A", 2)]), None);
        assert_eq!(
            common("plain", &[("A", 2), ("A", 1)], &[("A", 2)]).as_deref(),
            Some("option A")
        );
        assert_eq!(common("plain", &[], &[("A", 2)]).as_deref(), Some("option A"));
    }

    #[test]
    fn other_programs_and_subjects_are_other_searches() {
        let first = CommonSearch::new(&request("plain", "d", &[]));
        let difference = |other: &StoredRequest| first.difference(other);
        assert_eq!(difference(&request("plain", "e", &[])).as_deref(), Some("subjects"));
        assert_eq!(difference(&request("psi", "d", &[])).as_deref(), Some("program"));
        let other = StoredRequest { program: BlastProgram::Blastn, ..request("plain", "d", &[]) };
        assert_eq!(difference(&other).as_deref(), Some("program"));
    }
}
