use fairgate_core::{GateName, IdError, JobId, PartitionKey, PolicyName, QueueName, Shard};

#[test]
fn names_take_letters_digits_and_three_signs_and_start_with_a_letter_or_underscore() {
    for good in ["a", "_", "webhooks", "Web_hooks-2.1", &"a".repeat(100)] {
        assert_eq!(good.parse::<PolicyName>().unwrap().as_str(), good);
        assert!(good.parse::<GateName>().is_ok() && good.parse::<QueueName>().is_ok());
    }
    for bad in ["", "1a", ".a", "-a", "a b", "ä", "a/b", &"a".repeat(101)] {
        assert!(bad.parse::<PolicyName>().is_err(), "{bad:?}");
    }
}

#[test]
fn an_error_names_the_kind_the_text_and_what_is_wrong() {
    let error = "web hooks".parse::<GateName>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "a gate name is made of A-Z, a-z, 0-9, `_`, `.` and `-`; \"web hooks\" contains ' '"
    );
    let error = "7up".parse::<PolicyName>().unwrap_err();
    assert_eq!(error.to_string(), "a policy name must start with a letter or `_`, \"7up\" starts with '7'");
}

#[test]
fn a_partition_key_is_any_text_up_to_10_000_bytes_kept_byte_for_byte() {
    let long = "x".repeat(10_000);
    for good in [" ", " a ", "null", "É", "E\u{301}", "\n", long.as_str()] {
        assert_eq!(good.parse::<PartitionKey>().unwrap().as_str(), good);
    }
    assert_eq!(
        "x".repeat(10_001).parse::<PartitionKey>(),
        Err(IdError::TooLong { what: "partition key", bytes: 10_001, limit: 10_000 })
    );
    let empty = "".parse::<PartitionKey>();
    assert!(matches!(empty, Err(IdError::Empty { .. })));
    assert!(matches!("a\0b".parse::<PartitionKey>(), Err(IdError::Nul { .. })));
    assert_ne!("É".parse::<PartitionKey>(), "E\u{301}".parse::<PartitionKey>(), "no normalisation");
}

#[test]
fn a_shard_is_default_unless_given_and_has_at_most_200_bytes() {
    assert_eq!(Shard::default().as_str(), "default");
    assert!("s".repeat(200).parse::<Shard>().is_ok());
    assert!("s".repeat(201).parse::<Shard>().is_err());
    assert!("".parse::<Shard>().is_err());
}

#[test]
fn names_are_validated_when_they_are_deserialised() {
    assert!(serde_json::from_str::<PolicyName>("\"ok\"").is_ok());
    let error = serde_json::from_str::<PolicyName>("\"not ok\"").unwrap_err();
    assert!(error.to_string().contains("contains ' '"), "{error}");
}

#[test]
fn a_job_id_is_written_and_read_as_a_uuid() {
    let text = "3f0c2a52-9d0e-4a66-8a4e-6b2f3f8d1c11";
    let id: JobId = text.parse().unwrap();
    assert_eq!(id.to_string(), text);
    assert_eq!(JobId::from_uuid(id.as_uuid()), id);
    assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{text}\""));
    let error = "17".parse::<JobId>().unwrap_err();
    assert!(error.to_string().starts_with("a job id is a UUID"), "{error}");
}
