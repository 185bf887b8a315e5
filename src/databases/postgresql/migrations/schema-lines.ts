/** Kinds of objects with privileges: letter in `acldefault`, catalog, column of privileges, owner, name and schema. */
const GRANTED = [
  ['r', 'pg_class', 'relacl', 'relowner', "case c.relkind when 'S' then 'sequence ' else 'table ' end || c.oid::regclass", 'relnamespace'],
  ['f', 'pg_proc', 'proacl', 'proowner', "'function ' || c.oid::regprocedure", 'pronamespace'],
  ['T', 'pg_type', 'typacl', 'typowner', "'type ' || c.oid::regtype", 'typnamespace'],
  ['n', 'pg_namespace', 'nspacl', 'nspowner', "'schema ' || quote_ident(c.nspname)", 'oid'],
] as const;

const GRANTEE = (owner: string): string =>
  `case a.grantee when 0 then 'public' when ${owner} then 'its owner' else a.grantee::regrole::text end || case when a.is_grantable then ' with grant option' else '' end`;

/**
 * Privileges that differ from the defaults of owners and `public`, granted or revoked, without the grantor. The schema `public` and default
 * privileges are omitted, because they survive when a database for trials is emptied.
 */
const GRANTS = [
  ...GRANTED.map(([kind, catalog, acl, owner, name, schema]) => {
    const kindOf = kind === 'r' ? `case c.relkind when 'S' then 's' else 'r' end::"char"` : `'${kind}'`;
    const listed = (list: string): string =>
      `select a.privilege_type || ' on ' || ${name} || ' to ' || ${GRANTEE(`c.${owner}`)} from aclexplode(${list}) a`;
    const [own, usual] = [listed(`c.${acl}`), listed(`acldefault(${kindOf}, c.${owner})`)];
    return `select x.line, n.nspname from ${catalog} c join pg_namespace n on n.oid = c.${schema},
    lateral (select 'grant ' || g from (${own} except ${usual}) granted (g) union all select 'revoke ' || g from (${usual} except ${own}) revoked (g)) x (line) where c.${acl} is not null${kind === 'n' ? ` and n.nspname <> 'public'` : ''}`;
  }),
  `select 'grant ' || a.privilege_type || ' on column ' || c.oid::regclass || '.' || t.attname || ' to ' || ${GRANTEE('c.relowner')}, n.nspname from pg_attribute t join pg_class c on c.oid = t.attrelid join pg_namespace n on n.oid = c.relnamespace, aclexplode(t.attacl) a where t.attacl is not null`,
].join('\n  union all ');

/** Lines for the comments on objects of a catalog. */
const commentsOn = (catalog: string, schema: string): string =>
  `select 'comment ' || d.classoid::regclass::text || ' ' || pg_describe_object(d.classoid, d.objoid, d.objsubid) || ' ' || md5(d.description), n.nspname from pg_description d join ${catalog} c on d.classoid = '${catalog}'::regclass and c.oid = d.objoid join pg_namespace n on n.oid = c.${schema}`;

/** Lines for the objects that migrations usually define; the documentation of `migrate verify` lists the omitted ones. */
const ALL = `select 'table ' || c.oid::regclass::text || ' ' || c.relkind::text || ' ' || c.relpersistence::text || ' ' || c.relrowsecurity::text || ' ' || c.relforcerowsecurity::text || ' ' || coalesce(array_to_string(c.reloptions, ','), '') || ' ' || coalesce(pg_get_partkeydef(c.oid), '') || ' ' || coalesce(pg_get_expr(c.relpartbound, c.oid), '') || ' ' || coalesce((select string_agg(i.inhparent::regclass::text, ',' order by i.inhseqno) from pg_inherits i where i.inhrelid = c.oid), '') as line, n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  union all select 'column ' || c.oid::regclass::text || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || case when a.attcollation <> t.typcollation then ' collate ' || a.attcollation::regcollation::text else '' end || ' ' || a.attnotnull::text || ' ' || a.attidentity::text || a.attgenerated::text || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), ''), n.nspname from pg_attribute a join pg_type t on t.oid = a.atttypid join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
  union all select 'sequence ' || c.oid::regclass::text || ' ' || format_type(q.seqtypid, null) || ' increment ' || q.seqincrement || ' from ' || q.seqmin || ' to ' || q.seqmax || ' start ' || q.seqstart || ' cache ' || q.seqcache || ' cycle ' || q.seqcycle::text || coalesce((select ' of ' || d.refobjid::regclass::text || '.' || a.attname from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')), ''), n.nspname from pg_sequence q join pg_class c on c.oid = q.seqrelid join pg_namespace n on n.oid = c.relnamespace
  union all select 'constraint ' || coalesce(nullif(k.conrelid, 0)::regclass::text, nullif(k.contypid, 0)::regtype::text, '') || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid), n.nspname from pg_constraint k join pg_namespace n on n.oid = k.connamespace
  union all select 'index ' || pg_get_indexdef(i.indexrelid), n.nspname from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
  union all select 'statistics ' || pg_get_statisticsobjdef(s.oid), n.nspname from pg_statistic_ext s join pg_namespace n on n.oid = s.stxnamespace
  union all select 'view ' || c.oid::regclass::text || ' ' || md5(pg_get_viewdef(c.oid)), n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('v', 'm')
  union all select 'rule ' || pg_get_ruledef(r.oid) || ' ' || r.ev_enabled::text, n.nspname from pg_rewrite r join pg_class c on c.oid = r.ev_class join pg_namespace n on n.oid = c.relnamespace where r.rulename <> '_RETURN'
  union all select 'function ' || p.oid::regprocedure::text || ' ' || md5(pg_get_functiondef(p.oid)), n.nspname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.prokind in ('f', 'p', 'w') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  union all select 'aggregate ' || p.oid::regprocedure::text || ' ' || g.aggkind::text || ' ' || p.prorettype::regtype::text || ' ' || p.proparallel::text || ' ' || concat_ws(' ', g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggserialfn, g.aggdeserialfn, g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn) || ' ' || concat_ws(' ', g.aggfinalextra, g.aggmfinalextra, g.aggfinalmodify, g.aggmfinalmodify) || ' ' || g.aggsortop::regoperator::text || ' ' || g.aggtranstype::regtype::text || ' ' || g.aggmtranstype::regtype::text || ' ' || coalesce(quote_literal(g.agginitval), '') || ' ' || coalesce(quote_literal(g.aggminitval), ''), n.nspname from pg_aggregate g join pg_proc p on p.oid = g.aggfnoid join pg_namespace n on n.oid = p.pronamespace
  union all select 'trigger ' || t.tgrelid::regclass::text || ' ' || pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text, n.nspname from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace where not t.tgisinternal
  union all select 'policy ' || p.polrelid::regclass::text || ' ' || p.polname || ' ' || p.polcmd::text || ' ' || p.polpermissive::text || ' ' || (select string_agg(case r when 0 then 'public' else r::regrole::text end, ',' order by r) from unnest(p.polroles) r) || ' ' || coalesce(pg_get_expr(p.polqual, p.polrelid), '') || ' ' || coalesce(pg_get_expr(p.polwithcheck, p.polrelid), ''), n.nspname from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
  union all select 'enum ' || t.oid::regtype::text || ' ' || string_agg(e.enumlabel, ',' order by e.enumsortorder), n.nspname from pg_enum e join pg_type t on t.oid = e.enumtypid join pg_namespace n on n.oid = t.typnamespace group by t.oid, n.nspname
  union all select 'domain ' || t.oid::regtype::text || ' ' || format_type(t.typbasetype, t.typtypmod) || case when t.typcollation <> b.typcollation then ' collate ' || t.typcollation::regcollation::text else '' end || ' ' || t.typnotnull::text || ' ' || coalesce(t.typdefault, ''), n.nspname from pg_type t join pg_type b on b.oid = t.typbasetype join pg_namespace n on n.oid = t.typnamespace where t.typtype = 'd'
  union all select 'range ' || r.rngtypid::regtype::text || ' ' || r.rngsubtype::regtype::text || ' ' || r.rngcanonical::text || ' ' || r.rngsubdiff::text, n.nspname from pg_range r join pg_type t on t.oid = r.rngtypid join pg_namespace n on n.oid = t.typnamespace
  union all ${[
    commentsOn('pg_class', 'relnamespace'),
    commentsOn('pg_proc', 'pronamespace'),
    commentsOn('pg_type', 'typnamespace'),
    commentsOn('pg_namespace', 'oid'),
  ].join('\n  union all ')}
  union all select 'extension ' || e.extname, '' from pg_extension e
  union all select 'schema ' || n.nspname, n.nspname from pg_namespace n
  union all ${GRANTS}`;

/** Query for the lines of a schema in PostgreSQL, for comparison. */
export const schemaLines = `select distinct line from (${ALL}) as printed where nspname !~ '^pg_' and nspname not in ('information_schema', 'svc_catalog') and line !~ 'svc_verify'`;
