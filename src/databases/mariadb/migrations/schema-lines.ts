/** Tables of the migration history. */
const OWN = `('svc_migration', 'svc_seed')`;

/** Query that describes a schema as lines for comparison. */
export const schemaLines = [
  `select concat('table ', table_name, ' ', table_type, ' ', coalesce(engine, ''), ' ', coalesce(table_collation, ''), ' ', if(table_type = 'VIEW', '', table_comment)) as line
    from information_schema.tables where table_schema = database() and table_name not in ${OWN}`,
  `select concat('column ', table_name, '.', column_name, ' ', column_type, ' ', is_nullable, ' ', coalesce(column_default, ''), ' ', extra, ' ', coalesce(collation_name, ''), ' ', coalesce(generation_expression, ''), ' ', column_comment)
    from information_schema.columns where table_schema = database() and table_name not in ${OWN}`,
  `select concat('check ', table_name, ' ', constraint_name, ' ', check_clause)
    from information_schema.check_constraints where constraint_schema = database() and table_name not in ${OWN}`,
  `select concat('key ', table_name, ' ', constraint_name, ' ', group_concat(column_name order by ordinal_position), ' ', coalesce(max(referenced_table_name), ''), ' ', coalesce(group_concat(referenced_column_name order by ordinal_position), ''))
    from information_schema.key_column_usage where table_schema = database() and table_name not in ${OWN} group by table_name, constraint_name`,
  `select concat('reference ', table_name, ' ', constraint_name, ' ', update_rule, ' ', delete_rule)
    from information_schema.referential_constraints where constraint_schema = database()`,
  `select concat('index ', table_name, ' ', index_name, ' ', max(non_unique), ' ', max(index_type), ' ', group_concat(concat(column_name, coalesce(sub_part, '')) order by seq_in_index))
    from information_schema.statistics where table_schema = database() and table_name not in ${OWN} group by table_name, index_name`,
  `select concat('view ', table_name, ' ', security_type, ' ', check_option, ' ', md5(view_definition)) from information_schema.views where table_schema = database()`,
  `select concat('routine ', routine_type, ' ', routine_name, ' ', coalesce(dtd_identifier, ''), ' ', is_deterministic, ' ', sql_data_access, ' ', security_type, ' ', md5(coalesce(routine_definition, '')))
    from information_schema.routines where routine_schema = database()`,
  `select concat('parameter ', specific_name, ' ', ordinal_position, ' ', coalesce(parameter_mode, ''), ' ', coalesce(parameter_name, ''), ' ', dtd_identifier)
    from information_schema.parameters where specific_schema = database()`,
  `select concat('trigger ', event_object_table, ' ', trigger_name, ' ', action_timing, ' ', event_manipulation, ' ', md5(action_statement))
    from information_schema.triggers where trigger_schema = database()`,
  `select concat('event ', event_name, ' ', status, ' ', event_type, ' ', coalesce(interval_value, ''), ' ', coalesce(interval_field, ''), ' ', on_completion, ' ', md5(event_definition)) from information_schema.events where event_schema = database()`,
].join('\nunion all ');
