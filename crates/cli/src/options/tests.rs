//! Tests of the options of every program.

use std::collections::BTreeSet;

use fleetblast_stats::release::Release;

use super::blastn::{BLASTN, BlastnOptions};
use super::blastp::{BLASTP, BlastpOptions};
use super::blastx::{BLASTX, BlastxOptions};
use super::cat::{CAT, CatOptions};
use super::compat;
use super::constraint::{Constraint, Kind};
use super::dbcheck::{DBCHECK, DbcheckOptions};
use super::doctor::{DOCTOR, DoctorOptions};
use super::generate::{GENERATE, GenerateOptions};
use super::keygen::{self, KEYGEN};
use super::parse::{GivenOptions, Value};
use super::report::{REPORT, ReportOptions};
use super::search::generic::EVALUE;
use super::search::single::{MATRIX, REMOTE};
use super::search::strategy::IMPORT_SEARCH_STRATEGY;
use super::simulate::{SIMULATE, SimulateOptions};
use super::spec::{COMMON, H, HELP, OptionSpec, Program, VERSION};
use super::tblastn::{TBLASTN, TblastnOptions};
use super::tblastx::{TBLASTX, TblastxOptions};
use super::values::Values;
use super::wrap::{WRAP, WrapOptions};
use crate::program::PROGRAMS;

/// Names in BLAST+'s lists of exclusions that no option has any more.
const LEFT_OVER: [&str; 3] = ["pig", "mask_sequence", "window_masker_taxid"];

/// Returns values of an option that must all have different effects: all its words, or both ends of
/// its range of integers.
fn samples(option: &OptionSpec) -> Vec<Value> {
    let integers = |values: &[i64]| values.iter().copied().map(Value::Integer).collect();
    let whole = matches!(option.kind, Kind::Integer | Kind::Long);
    match option.constraint {
        Constraint::OneOf(words) | Constraint::Word(words) => {
            // The main program replaces this word by the number of a release.
            let words = words.iter().filter(|word| **word != compat::AUTO);
            words.map(|word| Value::Text(word.into())).collect()
        }
        Constraint::OneNumber(numbers) => {
            numbers.iter().map(|&number| Value::Integer(number.into())).collect()
        }
        Constraint::Ranges(ranges) => {
            let ends = ranges.iter().flat_map(|&(from, to)| BTreeSet::from([from, to]));
            ends.map(|end| Value::Integer(end.into())).collect()
        }
        Constraint::AtMost(most) => integers(&[i32::MIN.into(), most.into()]),
        Constraint::AtLeast(least) if whole => integers(&[least.into(), i32::MAX.into()]),
        Constraint::UpTo(most) => (0..=i64::from(most)).map(Value::Integer).collect(),
        Constraint::Between(from, to) => integers(&[from.into(), to.into()]),
        _ => match option.kind {
            Kind::Flag => vec![Value::Flag],
            Kind::Text | Kind::InputFile | Kind::OutputFile => {
                vec![Value::Text(option.name.into())]
            }
            Kind::Integer | Kind::Long => integers(&[i32::MIN.into(), i32::MAX.into()]),
            Kind::Real => vec![Value::Real(0.25)],
            Kind::Boolean => vec![Value::Boolean(false), Value::Boolean(true)],
        },
    }
}

fn add(program: &Program, given: &mut GivenOptions, name: &str) {
    let option = program.find(name).expect(name);
    // The recursion ends although two options may require each other.
    if given.insert(option.name, samples(&option).remove(0)).is_none() {
        option.requires.iter().for_each(|name| add(program, given, name));
    }
}

/// Checks that a program reads all options of its table and no others, and that it ignores no
/// option that it accepts.
///
/// `read` returns all values that the program read, as text. Options named in `also` are always
/// given.
pub(crate) fn each_option_counts(
    program: &Program,
    also: &[&str],
    read: impl Fn(&GivenOptions) -> String,
) {
    let mut base = GivenOptions::new();
    let mandatory = program.all().filter(|option| option.mandatory).map(|option| option.name);
    mandatory.chain(also.iter().copied()).for_each(|name| add(program, &mut base, name));
    let release = program.release.filter(|release| *release != Release::ALL[0]);
    if let Some(release) = release {
        compat::insert_release(release, &mut base);
    }
    for option in program.all().filter(|option| !option.refused.is_whole()) {
        let is_version = option.name.starts_with(VERSION.name);
        // The main program reads a strategy and the options of all programs before the others.
        let before = [H.name, HELP.name, IMPORT_SEARCH_STRATEGY.name()];
        let is_common = COMMON.iter().any(|common| common.name == option.name);
        if is_version || is_common || before.contains(&option.name) {
            continue;
        }
        let mut without = base.clone();
        option.requires.iter().for_each(|name| add(program, &mut without, name));
        let values = samples(&option);
        let results = values.iter().map(|value| {
            let mut given = without.clone();
            given.insert(option.name, value.clone());
            read(&given)
        });
        let results: BTreeSet<String> = results.collect();
        let (program, name) = (program.name, option.name);
        assert_eq!(
            results.len(),
            values.len(),
            "{program}: some values of -{name} have the same effect"
        );
        if !without.contains_key(option.name) {
            let base = read(&without);
            assert!(
                results.iter().any(|result| *result != base),
                "{program}: -{name} does not count"
            );
        }
    }
}

#[test]
fn each_option_of_a_search_counts_in_each_release() {
    for release in Release::ALL {
        let check = |program: Program, read: fn(&GivenOptions) -> String| {
            each_option_counts(&program.in_release(Some(release)), &[], read);
        };
        check(BLASTP, |given| format!("{:?}", BlastpOptions::new(given)));
        check(BLASTN, |given| format!("{:?}", BlastnOptions::new(given)));
        check(BLASTX, |given| format!("{:?}", BlastxOptions::new(given)));
        check(TBLASTN, |given| format!("{:?}", TblastnOptions::new(given)));
        check(TBLASTX, |given| format!("{:?}", TblastxOptions::new(given)));
    }
}

#[test]
fn each_option_of_what_blast_does_not_have_counts() {
    each_option_counts(&CAT, &[], |given| format!("{:?}", CatOptions::new(given)));
    each_option_counts(&KEYGEN, &[], |given| format!("{:?}", keygen::key(given)));
    each_option_counts(&DBCHECK, &[], |given| format!("{:?}", DbcheckOptions::new(given)));
    each_option_counts(&DOCTOR, &[], |given| format!("{:?}", DoctorOptions::new(given)));
    each_option_counts(&GENERATE, &[], |given| format!("{:?}", GenerateOptions::new(given)));
    each_option_counts(&REPORT, &[], |given| format!("{:?}", ReportOptions::new(given)));
    each_option_counts(&WRAP, &[], |given| format!("{:?}", WrapOptions::new(given)));
    each_option_counts(&SIMULATE, &[], |given| format!("{:?}", SimulateOptions::new(given)));
}

#[test]
fn options_are_in_a_table_once_and_tied_to_others_of_it() {
    let releases = Release::ALL.map(Some);
    for program in PROGRAMS.iter().flat_map(|program| releases.map(|it| program.in_release(it))) {
        for option in program.all() {
            let (program_name, name) = (program.name, option.name);
            let same = program.all().filter(|other| other.name == name).count();
            assert_eq!(same, 1, "{program_name}: -{name}");
            for other in program.excluded_by(&option).iter().chain(option.requires) {
                let known = program.find(other).is_some() || LEFT_OVER.contains(other);
                assert!(known, "{program_name}: -{name} is tied to -{other}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "report: no such -evalue")]
fn an_option_that_is_not_in_the_table_cannot_be_read() {
    Values::new(&REPORT, &GivenOptions::new()).get(&EVALUE);
}

#[test]
#[should_panic(expected = "blastp: no such -matrix")]
fn an_option_of_another_kind_than_that_of_the_table_cannot_be_read() {
    let flag = super::opt::Opt::flag(MATRIX.name(), MATRIX.spec.group, &[]);
    Values::new(&BLASTP, &GivenOptions::new()).get(&flag);
}

#[test]
#[should_panic(expected = "blastp: -matrix may have no value")]
fn an_option_without_default_is_optional_even_when_given() {
    let given = GivenOptions::from([(MATRIX.name(), Value::Text("PAM30".into()))]);
    Values::new(&BLASTP, &given).get(&MATRIX);
}

#[test]
#[should_panic(expected = "blastp: -evalue always has a value")]
fn a_default_is_not_overlooked() {
    Values::new(&BLASTP, &GivenOptions::new()).optional(&EVALUE);
}

#[test]
fn what_is_refused_is_named_by_the_order_of_the_table() {
    let given =
        GivenOptions::from([(REMOTE.name(), Value::Flag), ("ipglist", Value::Text("x".into()))]);
    let error = Values::new(&BLASTP, &given).unsupported().expect("a refusal");
    assert!(error.message.contains("does not support -ipglist yet"), "{error}");
    assert_eq!(Values::new(&BLASTP, &GivenOptions::new()).unsupported(), None);
}
