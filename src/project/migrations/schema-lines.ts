/** A database's schema as lines of text, so that two of them can be compared: SQL with one column, for each kind whose databases are migrated. */

/** Everything that a migration may define in PostgreSQL, a line each. */
const PG_ALL = `select 'table ' || c.oid::regclass::text || ' ' || c.relkind::text || ' ' || c.relrowsecurity::text as line, n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  union all select 'column ' || c.oid::regclass::text || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull::text || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), ''), n.nspname from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
  union all select 'constraint ' || coalesce(nullif(k.conrelid, 0)::regclass::text, '') || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid), n.nspname from pg_constraint k join pg_namespace n on n.oid = k.connamespace
  union all select 'index ' || pg_get_indexdef(i.indexrelid), n.nspname from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
  union all select 'view ' || c.oid::regclass::text || ' ' || md5(pg_get_viewdef(c.oid)), n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('v', 'm')
  union all select 'function ' || p.oid::regprocedure::text || ' ' || md5(pg_get_functiondef(p.oid)), n.nspname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.prokind in ('f', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  union all select 'trigger ' || t.tgrelid::regclass::text || ' ' || pg_get_triggerdef(t.oid), n.nspname from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace where not t.tgisinternal
  union all select 'policy ' || p.polrelid::regclass::text || ' ' || p.polname || ' ' || p.polcmd::text || ' ' || coalesce(pg_get_expr(p.polqual, p.polrelid), '') || ' ' || coalesce(pg_get_expr(p.polwithcheck, p.polrelid), ''), n.nspname from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
  union all select 'enum ' || t.oid::regtype::text || ' ' || string_agg(e.enumlabel, ',' order by e.enumsortorder), n.nspname from pg_enum e join pg_type t on t.oid = e.enumtypid join pg_namespace n on n.oid = t.typnamespace group by t.oid, n.nspname
  union all select 'comment ' || d.classoid::regclass::text || ' ' || pg_describe_object(d.classoid, d.objoid, d.objsubid) || ' ' || md5(d.description), n.nspname from pg_description d join pg_class c on d.classoid = 'pg_class'::regclass and c.oid = d.objoid join pg_namespace n on n.oid = c.relnamespace
  union all select 'extension ' || e.extname, '' from pg_extension e
  union all select 'schema ' || n.nspname, n.nspname from pg_namespace n`;

const PG = `select distinct line from (${PG_ALL}) as printed where nspname !~ '^pg_' and nspname not in ('information_schema', 'svc_catalog') and line !~ 'svc_verify'`;

/** What the service and its command keep beside the tables of others. */
const DBB_OWN = `('svc_migration', 'svc_seed')`;

const DBB = [
  `select concat('table ', table_name, ' ', table_type, ' ', coalesce(engine, ''), ' ', coalesce(table_collation, ''), ' ', if(table_type = 'VIEW', '', table_comment)) as line
    from information_schema.tables where table_schema = database() and table_name not in ${DBB_OWN}`,
  `select concat('column ', table_name, '.', column_name, ' ', column_type, ' ', is_nullable, ' ', coalesce(column_default, ''), ' ', extra, ' ', coalesce(collation_name, ''), ' ', coalesce(generation_expression, ''), ' ', column_comment)
    from information_schema.columns where table_schema = database() and table_name not in ${DBB_OWN}`,
  `select concat('check ', table_name, ' ', constraint_name, ' ', check_clause)
    from information_schema.check_constraints where constraint_schema = database() and table_name not in ${DBB_OWN}`,
  `select concat('key ', table_name, ' ', constraint_name, ' ', group_concat(column_name order by ordinal_position), ' ', coalesce(max(referenced_table_name), ''), ' ', coalesce(group_concat(referenced_column_name order by ordinal_position), ''))
    from information_schema.key_column_usage where table_schema = database() and table_name not in ${DBB_OWN} group by table_name, constraint_name`,
  `select concat('reference ', table_name, ' ', constraint_name, ' ', update_rule, ' ', delete_rule)
    from information_schema.referential_constraints where constraint_schema = database()`,
  `select concat('index ', table_name, ' ', index_name, ' ', max(non_unique), ' ', max(index_type), ' ', group_concat(concat(column_name, coalesce(sub_part, '')) order by seq_in_index))
    from information_schema.statistics where table_schema = database() and table_name not in ${DBB_OWN} group by table_name, index_name`,
  `select concat('view ', table_name, ' ', security_type, ' ', md5(view_definition)) from information_schema.views where table_schema = database()`,
  `select concat('routine ', routine_type, ' ', routine_name, ' ', coalesce(dtd_identifier, ''), ' ', is_deterministic, ' ', sql_data_access, ' ', md5(coalesce(routine_definition, '')))
    from information_schema.routines where routine_schema = database()`,
  `select concat('parameter ', specific_name, ' ', ordinal_position, ' ', coalesce(parameter_mode, ''), ' ', coalesce(parameter_name, ''), ' ', dtd_identifier)
    from information_schema.parameters where specific_schema = database()`,
  `select concat('trigger ', event_object_table, ' ', trigger_name, ' ', action_timing, ' ', event_manipulation, ' ', md5(action_statement))
    from information_schema.triggers where trigger_schema = database()`,
  `select concat('event ', event_name, ' ', status, ' ', md5(event_definition)) from information_schema.events where event_schema = database()`,
].join('\nunion all ');

/** @returns undefined: databases of the kind are not migrated */
export function schemaLines(kind: string): string | undefined {
  if (kind === 'pg' || kind === 'dbc') return PG;
  return kind === 'dbb' ? DBB : undefined;
}
