/** Random schemas of PostgreSQL as SQL that creates them. Names come from small sets, so that two schemas have many of them in common. */

export type Random = () => number;

/** Returns numbers from 0 to 1 that depend only on the seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface ColumnModel {
  readonly name: string;
  readonly type: string;
  readonly collation: string;
  readonly notNull: '' | 'not null' | 'named';
  readonly default: string;
  readonly identity: string;
  readonly generated: string;
}

interface ForeignKeyModel {
  readonly name: string;
  readonly table: string;
  readonly target: string;
  readonly columns: readonly string[];
  readonly options: string;
}

interface TableModel {
  readonly name: string;
  readonly isUnlogged: boolean;
  readonly columns: readonly ColumnModel[];
  readonly key: readonly string[];
  /** Constraints other than the primary key and foreign keys, by name. */
  readonly constraints: ReadonlyMap<string, string>;
  /** Indexes by name, as the text from `on` on. */
  readonly indexes: ReadonlyMap<string, { readonly unique: boolean; readonly on: string }>;
}

export interface SchemaModel {
  readonly schemas: readonly string[];
  readonly enums: ReadonlyMap<string, readonly string[]>;
  readonly sequences: ReadonlyMap<string, string>;
  /** Columns that own one of the sequences. */
  readonly owners: ReadonlyMap<string, string>;
  readonly tables: ReadonlyMap<string, TableModel>;
  readonly foreignKeys: readonly ForeignKeyModel[];
}

const LABELS = ['sad', "it''s ok", 'Happy', 'a,b', 'neu', 'x'];
const ENUMS = ['public.mood', 'public."Kind"', '"Odd one".state'];
const TABLES = ['public.author', 'public."Book"', 'public."order"', '"Odd one".tag', '"Odd one"."author"', 'public.stats'];
const COLUMNS = ['id', 'a', 'b', '"Größe"', '"c d"', '"order"', 'name', 'kind'];
const SEQUENCES = ['public.tickets', '"Odd one"."Count"'];
const NUMBERS = ['smallint', 'integer', 'bigint', 'numeric', 'numeric(10,2)', 'numeric(12,2)', 'numeric(8,0)', 'real', 'double precision'];
const INTEGERS = ['smallint', 'integer', 'bigint'];
const TEXTS = ['text', 'varchar(10)', 'varchar(20)', 'varchar', 'char(5)'];
const OTHERS = [
  'boolean',
  'date',
  'timestamp',
  'timestamp(3)',
  'timestamptz',
  'uuid',
  'jsonb',
  'integer[]',
  'text[]',
  'interval',
  'int4range',
];

/** Setting of an identity column, with a placeholder for the name. */
const NAMED_SEQUENCE = '(sequence name ?)';

export class SchemaMaker {
  readonly #random: Random;
  constructor(random: Random) {
    this.#random = random;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }

  some<T>(list: readonly T[], share: number): readonly T[] {
    return list.filter(() => this.chance(share));
  }

  shuffled<T>(list: readonly T[]): readonly T[] {
    return list
      .map((item) => ({ item, lot: this.#random() }))
      .sort((one, other) => one.lot - other.lot)
      .map(({ item }) => item);
  }

  /** A schema, of which some parts are those of `like`. @param share probability of each part to be kept */
  schema(like?: SchemaModel, share = 0.8): SchemaModel {
    const kept = <T>(old: ReadonlyMap<string, T> | undefined, name: string, make: () => T | undefined): readonly [string, T][] => {
      const before = old?.get(name);
      const value = like !== undefined && this.chance(share) ? before : make();
      return value === undefined ? [] : [[name, value]];
    };
    const hasOdd = this.chance(0.8);
    const isThere = (name: string): boolean => hasOdd || !name.startsWith('"Odd');
    const enums = new Map(
      ENUMS.filter(isThere).flatMap((name) =>
        kept(like?.enums, name, () => (this.chance(0.7) ? this.#labels(like?.enums.get(name)) : undefined)),
      ),
    );
    const sequences = new Map(
      SEQUENCES.filter(isThere).flatMap((name) => kept(like?.sequences, name, () => (this.chance(0.5) ? this.#sequence() : undefined))),
    );
    const tables = new Map(
      TABLES.filter(isThere).flatMap((name) =>
        kept(like?.tables, name, () =>
          this.chance(0.7) ? this.#table(name, enums, [...sequences.keys()], like?.tables.get(name)) : undefined,
        ),
      ),
    );
    const sound = new Map([...tables].map(([name, table]) => [name, this.#sound(table, enums, [...sequences.keys()])]));
    const owners = new Map(
      [...sequences.keys()].flatMap((name) => {
        const owner = this.pick(
          [...sound.values()].filter((each) => each.name.split('.')[0] === name.split('.')[0] && each.columns.length > 0),
        );
        return owner === undefined || this.chance(0.5) ? [] : [[name, `${owner.name}.${this.pick(owner.columns).name}`] as const];
      }),
    );
    return { schemas: hasOdd ? ['"Odd one"'] : [], enums, sequences, owners, tables: sound, foreignKeys: this.#foreignKeys(sound) };
  }

  #labels(old: readonly string[] | undefined): readonly string[] {
    if (old !== undefined && this.chance(0.6)) {
      const added = LABELS.filter((label) => !old.includes(label) && this.chance(0.5));
      const list = [...old];
      for (const label of added) list.splice(Math.floor(this.#random() * (list.length + 1)), 0, label);
      return list;
    }
    const some = this.some(LABELS, 0.5);
    return this.shuffled(some.length === 0 ? ['x'] : some);
  }

  #sequence(): string {
    const type = this.pick(INTEGERS);
    const bounds = this.pick([
      '',
      'increment by 5',
      'minvalue 5 maxvalue 1000 start with 10',
      'increment by -1 minvalue -500',
      'start with 7',
    ]);
    return `as ${type} ${bounds} ${this.pick(['', 'cache 3', 'cycle'])}`;
  }

  #column(
    name: string,
    enums: ReadonlyMap<string, readonly string[]>,
    sequences: readonly string[],
    earlier: readonly ColumnModel[],
  ): ColumnModel {
    const ofEnum = [...enums.keys()].flatMap((type) => [type, type, `${type}[]`]);
    const type = this.pick([this.pick(NUMBERS), this.pick(INTEGERS), this.pick(TEXTS), this.pick(OTHERS), this.pick([...ofEnum, 'text'])]);
    const plain = {
      name,
      type,
      collation: '',
      notNull: this.pick(['', '', 'not null', 'named'] as const),
      default: '',
      identity: '',
      generated: '',
    };
    if (TEXTS.includes(type) && this.chance(0.1)) return { ...plain, collation: '"C"' };
    if (INTEGERS.includes(type) && this.chance(0.25)) {
      const settings = this.pick(['', '(start with 5)', '(increment by 2 cache 4)', NAMED_SEQUENCE]);
      return { ...plain, notNull: 'not null', identity: `generated ${this.pick(['always', 'by default'])} as identity ${settings}` };
    }
    const base = this.pick(earlier.filter((each) => each.generated === ''));
    if (base !== undefined && this.chance(0.15)) return { ...plain, ...this.#generated(base), notNull: '' };
    return { ...plain, default: this.chance(0.4) ? this.#default(type, enums, sequences) : '' };
  }

  #generated({ name, type }: ColumnModel): Pick<ColumnModel, 'type' | 'generated'> {
    const how = this.pick(['stored', 'stored', 'virtual']);
    if (INTEGERS.includes(type))
      return { type: 'bigint', generated: `generated always as (${name}::bigint * ${this.pick(['2', '3'])}) ${how}` };
    if (TEXTS.includes(type)) return { type: 'text', generated: `generated always as (${this.pick(['lower', 'upper'])}(${name})) ${how}` };
    // Virtual columns cannot use types of users.
    return { type: 'boolean', generated: `generated always as (${name} is null) ${type.includes('.') ? 'stored' : how}` };
  }

  #default(type: string, enums: ReadonlyMap<string, readonly string[]>, sequences: readonly string[]): string {
    const labels = enums.get(type);
    if (labels !== undefined) return `'${this.pick(labels)}'`;
    if (INTEGERS.includes(type) && sequences.length > 0 && this.chance(0.4)) return `nextval('${this.pick(sequences)}')`;
    if (NUMBERS.includes(type)) return this.pick(['0', '1', '-2']);
    if (TEXTS.includes(type)) return this.pick(["'a'", "E'it''s\\\\'", "upper('b')"]);
    if (type.startsWith('timestamp')) return this.pick(['now()', 'current_timestamp']);
    const known: Readonly<Record<string, string>> = {
      boolean: 'true',
      uuid: 'gen_random_uuid()',
      jsonb: "'{}'",
      'integer[]': "'{1}'",
      date: "'2020-01-01'",
    };
    return known[type] ?? '';
  }

  #table(name: string, enums: ReadonlyMap<string, readonly string[]>, sequences: readonly string[], old?: TableModel): TableModel {
    const columns: ColumnModel[] = [];
    for (const column of this.shuffled(COLUMNS)) {
      const before = old?.columns.find((each) => each.name === column);
      if (before !== undefined && this.chance(0.6)) columns.push(before);
      else if (this.chance(0.6)) columns.push(this.#column(column, enums, sequences, columns));
    }
    return { name, isUnlogged: this.chance(0.1), columns, key: [], constraints: new Map(), indexes: new Map() };
  }

  /** Drops what refers to missing objects, and makes new constraints and indexes for the columns that there are. */
  #sound(table: TableModel, enums: ReadonlyMap<string, readonly string[]>, sequences: readonly string[]): TableModel {
    const isEnum = (type: string): boolean => ENUMS.includes(type.replace('[]', ''));
    const isSound = ({ type, default: text }: ColumnModel): boolean =>
      (!isEnum(type) || enums.has(type.replace('[]', ''))) &&
      (!enums.has(type) || text === '' || enums.get(type)?.includes(text.slice(1, -1)) === true) &&
      (!text.startsWith('nextval') || sequences.some((name) => text.includes(`'${name}'`)));
    const some = table.columns.filter(isSound);
    const columns = some.filter(({ generated }) => {
      const base = /\((?:lower\(|upper\()?("[^"]+"|\w+)/.exec(generated)?.[1];
      const used = some.find((each) => each.name === base);
      return generated === '' || (used?.generated === '' && this.#canUse(generated, used.type));
    });
    const keyed = columns.filter(({ type, generated }) => generated === '' && type !== 'jsonb' && type !== 'int4range');
    const key = keyed.length > 0 && this.chance(0.7) ? this.shuffled(keyed).slice(0, this.chance(0.8) ? 1 : 2) : [];
    const constraints = new Map<string, string>();
    const indexes = new Map<string, { readonly unique: boolean; readonly on: string }>();
    const short = table.name.split('.')[1]?.replaceAll('"', '') ?? '';
    for (const column of columns.filter(({ generated }) => !generated.includes('virtual'))) {
      if (this.chance(0.2)) constraints.set(`"check ${column.name.replaceAll('"', '')}"`, `check (${this.#check(column, enums)})`);
      const isKeyed = keyed.includes(column);
      if (isKeyed && this.chance(0.15)) constraints.set(this.pick([`"${short} uk"`, `"${short} Uk"`]), this.#unique(column, keyed));
      if (this.chance(0.25)) indexes.set(`"${short} ${column.name.replaceAll('"', '')}"`, this.#index(column, isKeyed));
    }
    const range = columns.find(({ type }) => type === 'int4range');
    if (range !== undefined && this.chance(0.5)) constraints.set(`"no overlap ${short}"`, `exclude using gist (${range.name} with &&)`);
    const name = this.pick([`"${short}_pkey"`, `"${short}_pkey"`, `"${short} is"`]);
    if (key.length > 0) constraints.set(name, `primary key (${key.map((each) => each.name).join(', ')})`);
    return { ...table, columns, key: key.map((each) => each.name), constraints, indexes };
  }

  #canUse(generated: string, type: string): boolean {
    if (generated.includes('bigint')) return INTEGERS.includes(type);
    if (generated.includes('is null')) return !type.includes('.') || generated.endsWith('stored');
    return TEXTS.includes(type);
  }

  #unique({ name }: ColumnModel, keyed: readonly ColumnModel[]): string {
    const other = this.pick(keyed);
    const list = other.name === name || this.chance(0.6) ? name : `${name}, ${other.name}`;
    return `unique ${this.pick(['', 'nulls not distinct '])}(${list})${this.pick(['', ' deferrable', ' deferrable initially deferred'])}`;
  }

  #check({ name, type }: ColumnModel, enums: ReadonlyMap<string, readonly string[]>): string {
    const labels = enums.get(type);
    if (labels !== undefined)
      return this.pick([`${name} <> '${this.pick(labels)}'`, `${name} in ('${this.pick(labels)}', '${this.pick(labels)}')`]);
    if (NUMBERS.includes(type)) return this.pick([`${name} > 0`, `${name} between 1 and 9`, `${name} in (1, 2)`, `${name} + 1 < 100`]);
    if (TEXTS.includes(type)) return this.pick([`${name} <> ''`, `${name} in ('a', 'b''c')`, `length(${name}) > 2`, `${name} ~ '^a'`]);
    return `${name} is not null`;
  }

  #index({ name, type }: ColumnModel, isKeyed: boolean): { readonly unique: boolean; readonly on: string } {
    if (type === 'jsonb' || type === 'integer[]') return { unique: false, on: `using gin (${name})` };
    if (type === 'int4range') return { unique: false, on: `using gist (${name})` };
    const part = this.pick([
      name,
      name,
      `${name} desc nulls last`,
      ...(TEXTS.includes(type) ? [`lower(${name})`, `${name} text_pattern_ops`] : []),
    ]);
    const valid = part.includes('text_pattern_ops') && type !== 'text' ? name : part;
    const where = this.chance(0.2) ? ` where ${name} is not null` : '';
    if (valid === name && this.chance(0.1)) return { unique: false, on: `using hash (${name})${where}` };
    return { unique: isKeyed && this.chance(0.2), on: `using btree (${valid})${where}` };
  }

  #foreignKeys(tables: ReadonlyMap<string, TableModel>): readonly ForeignKeyModel[] {
    const list = [...tables.values()];
    const found: ForeignKeyModel[] = [];
    for (const table of list)
      for (const target of list) {
        if (target.key.length === 0 || this.chance(0.4) || (target.isUnlogged && !table.isUnlogged)) continue;
        const columns = target.key.map((name) => {
          const type = target.columns.find((each) => each.name === name)?.type;
          return this.pick(table.columns.filter((each) => each.type === type && each.generated === '' && each.collation === ''));
        });
        if (columns.some((each) => each === undefined) || new Set(columns).size < columns.length) continue;
        const options = `${this.pick(['', 'on delete cascade', 'on update restrict', 'match full'])} ${this.pick(['', 'deferrable', 'not valid'])}`;
        const name = `"to ${target.name.replaceAll('"', '')}"`;
        found.push({ name, table: table.name, target: target.name, columns: columns.map((each) => each?.name ?? ''), options });
      }
    return found;
  }
}

/** SQL that creates the schema. */
export function sqlOf({ schemas, enums, sequences, owners, tables, foreignKeys }: SchemaModel): string {
  const columnSql = (table: TableModel, { name, type, collation, notNull, default: text, identity, generated }: ColumnModel): string => {
    const named = `constraint "${table.name.replaceAll('"', '').slice(-8)} ${name.replaceAll('"', '')}" not null`;
    const sequence = `${table.name.split('.')[0]}."${`${table.name} ${name}`.replaceAll('"', '')}"`;
    const numbered = identity.replace('?', sequence);
    return [
      name,
      type,
      collation && `collate ${collation}`,
      text && `default ${text}`,
      numbered,
      generated,
      notNull === 'named' ? named : notNull,
    ]
      .filter((each) => each !== '')
      .join(' ');
  };
  const statements = [
    ...schemas.map((name) => `create schema ${name}`),
    ...[...enums].map(([name, labels]) => `create type ${name} as enum (${labels.map((label) => `'${label}'`).join(', ')})`),
    ...[...sequences].map(([name, options]) => `create sequence ${name} ${options}`),
    ...[...tables.values()].map(
      (table) =>
        `create ${table.isUnlogged ? 'unlogged ' : ''}table ${table.name} (${table.columns.map((column) => columnSql(table, column)).join(', ')})`,
    ),
    ...[...tables.values()].flatMap(({ name, constraints }) =>
      [...constraints].map(([constraint, text]) => `alter table ${name} add constraint ${constraint} ${text}`),
    ),
    ...[...tables.values()].flatMap(({ name, indexes }) =>
      [...indexes].map(([index, { unique, on }]) => `create ${unique ? 'unique ' : ''}index ${index} on ${name} ${on}`),
    ),
    ...foreignKeys.map(
      ({ name, table, target, columns, options }) =>
        `alter table ${table} add constraint ${name} foreign key (${columns.join(', ')}) references ${target} ${options}`,
    ),
    ...[...owners].map(([sequence, column]) => `alter sequence ${sequence} owned by ${column}`),
  ];
  return statements.map((each) => `${each};\n`).join('');
}
