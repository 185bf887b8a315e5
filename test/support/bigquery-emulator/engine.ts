/** Google's ZetaSQL in a separate process. It parses, analyzes and evaluates GoogleSQL over registered tables. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';

/** A message of the engine: fields by name, 64-bit integers and enums as text. */
export interface Tree {
  readonly [field: string]: TreeValue | undefined;
}
export type TreeValue = Tree | readonly TreeValue[] | Uint8Array | string | number | boolean | null;

/** An error of the engine. `message` ends in `[at line:column]` if the position is known. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

export interface EngineParameter {
  readonly name: string;
  readonly type: Tree;
  readonly value: Tree;
}

/** The parts of the packages in use. They are installed in this folder only, so the type check cannot see their types. */
interface Grpc {
  readonly credentials: { createInsecure(): object };
  loadPackageDefinition(definition: object): {
    readonly zetasql: { readonly local_service: { readonly ZetaSqlLocalService: ServiceClass } };
  };
}
type ServiceClass = new (address: string, credentials: object, options: Readonly<Record<string, number>>) => Service;
type Done = (error: { readonly code: number; readonly details: string } | null, answer: Tree) => void;
interface Service {
  waitForReady(deadline: number, done: (error?: Error) => void): void;
  close(): void;
  readonly parse: Method;
  readonly analyze: Method;
  readonly evaluateQuery: Method;
  readonly evaluateModify: Method;
  readonly registerCatalog: Method;
  readonly unregisterCatalog: Method;
  readonly getLanguageOptions: Method;
}
type Method = (request: Tree, done: Done) => void;
interface ProtoLoader {
  loadSync(file: string, options: object): object;
}

interface Protobuf {
  readonly util: { recursionLimit: number };
  readonly Reader: { recursionLimit: number };
}

const DEEPEST_MESSAGE = 2_000;
const SIZE_LIMIT = 500 * 1024 * 1024;
const START_LIMIT = 30_000;
const require = createRequire(import.meta.url);
const folder = join(import.meta.dirname, 'node_modules', '@fivetrandevelopers', 'zetasql', 'lib', 'zetasql');

function binary(): string {
  return join(folder, `remote_server${process.arch.startsWith('arm') ? '_arm' : ''}${process.platform === 'darwin' ? '' : '.so'}`);
}

/** Returns whether the packages of this folder are installed and contain the engine for this platform. */
export function hasEngine(): boolean {
  return (
    ['linux', 'darwin'].includes(process.platform) &&
    existsSync(binary()) &&
    ['grpc-js', 'proto-loader'].every((name) => existsSync(join(import.meta.dirname, 'node_modules', '@grpc', name)))
  );
}

/** Features of the engine's maximum set that BigQuery does not have. */
const NOT_IN_BIGQUERY: readonly string[] = [
  'FEATURE_TIMESTAMP_NANOS',
  'FEATURE_V_1_1_ARRAY_EQUALITY',
  'FEATURE_V_1_2_GROUP_BY_ARRAY',
  'FEATURE_V_1_2_GROUP_BY_STRUCT',
  'FEATURE_V_1_3_ARRAY_ORDERING',
  'FEATURE_V_1_3_ALLOW_SLASH_PATHS',
  'FEATURE_V_1_3_ARRAY_GREATEST_LEAST',
  'FEATURE_V_1_3_BRACED_PROTO_CONSTRUCTORS',
  'FEATURE_V_1_3_DML_RETURNING',
  'FEATURE_V_1_3_FILTER_FIELDS',
  'FEATURE_V_1_3_PROTO_MAPS',
  'FEATURE_V_1_3_REPLACE_FIELDS',
  'FEATURE_V_1_3_WITH_GROUP_ROWS',
  'FEATURE_V_1_4_FIRST_AND_LAST_N',
  'FEATURE_V_1_4_NULLIFZERO_ZEROIFNULL',
  'FEATURE_V_1_4_PI_FUNCTIONS',
];
const BESIDES: readonly string[] = ['FEATURE_INTERVAL_TYPE'];

const BUILTIN_TYPES: Tree = { definitions: [{ builtin: {} }] };

/** Runs the server until its standard input closes, which happens whenever the test process ends. Any input would keep the server alive. */
const WATCHED = `"$0" "$@" & server=$!
read -r word
kill -9 $server
wait $server 2> /dev/null`;

export class Engine {
  private readonly service: Service;
  private readonly language: Tree;
  private readonly end: () => void;

  private constructor(service: Service, language: Tree, end: () => void) {
    this.service = service;
    this.language = language;
    this.end = end;
  }

  /** @throws Error if it does not start */
  static async start(): Promise<Engine> {
    const grpc = require('@grpc/grpc-js') as Grpc;
    const loader = require('@grpc/proto-loader') as ProtoLoader;
    // Resolved queries nest deeper than gRPC's default limit.
    const { util, Reader } = createRequire(require.resolve('@grpc/proto-loader'))('protobufjs') as Protobuf;
    util.recursionLimit = DEEPEST_MESSAGE;
    Reader.recursionLimit = DEEPEST_MESSAGE;
    const port = await freePort();
    const child = spawn('/bin/sh', ['-c', WATCHED, binary(), 'localhost', String(port)], { stdio: ['pipe', 'ignore', 'pipe'] });
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaints = (complaints + chunk.toString()).slice(-4000);
    });
    child.stdin.on('error', () => undefined);
    const definition = loader.loadSync('local_service.proto', {
      oneofs: true,
      longs: String,
      enums: String,
      includeDirs: [join(folder, 'protos')],
    });
    const { ZetaSqlLocalService } = grpc.loadPackageDefinition(definition).zetasql.local_service;
    const service = new ZetaSqlLocalService(`localhost:${port}`, grpc.credentials.createInsecure(), {
      'grpc.max_send_message_length': SIZE_LIMIT,
      'grpc.max_receive_message_length': SIZE_LIMIT,
      // Retries at once if the server does not listen yet.
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.min_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 200,
    });
    const end = (): void => {
      service.close();
      child.stdin.end();
    };
    try {
      await new Promise<void>((resolve, reject) => {
        service.waitForReady(Date.now() + START_LIMIT, (error) => (error === undefined || error === null ? resolve() : reject(error)));
      });
    } catch (error) {
      end();
      throw new Error(`ZetaSQL does not start: ${complaints}`, { cause: error });
    }
    // Neither the server nor the connection keeps the test process alive.
    child.unref();
    (child.stdin as typeof child.stdin & { unref?: () => void }).unref?.();
    (child.stderr as typeof child.stderr & { unref?: () => void }).unref?.();
    const language = await call((request, done) => service.getLanguageOptions(request, done), { maximumFeatures: true });
    const features = [...((language['enabledLanguageFeatures'] ?? []) as readonly string[]), ...BESIDES];
    return new Engine(
      service,
      {
        ...language,
        productMode: 'PRODUCT_EXTERNAL',
        enabledLanguageFeatures: features.filter((name) => !NOT_IN_BIGQUERY.includes(name)),
        // Empty: all kinds.
        supportedStatementKinds: [],
      },
      end,
    );
  }

  async isRunning(): Promise<boolean> {
    return this.parse('SELECT 1').then(
      () => true,
      () => false,
    );
  }

  stop(): void {
    this.end();
  }

  /** Parses the next statement from a byte offset. @returns it and the offset behind it. @throws EngineError */
  async parse(sql: string, from = 0): Promise<{ readonly statement: Tree; readonly end: number }> {
    const answer = await call((request, done) => this.service.parse(request, done), {
      parseResumeLocation: { input: sql, bytePosition: from },
      options: this.language,
    });
    return { statement: answer['parsedStatement'] as Tree, end: answer['resumeBytePosition'] as number };
  }

  /** Analyzes a statement. @param withPlaces includes positions in the text, which make up half of the message. @throws EngineError */
  async analyze(sql: string, catalog: string, parameters: Parameters, withPlaces = true): Promise<Tree> {
    const answer = await call((request, done) => this.service.analyze(request, done), {
      sqlStatement: sql,
      registeredCatalogId: catalog,
      options: {
        ...this.options(parameters),
        parseLocationRecordType: withPlaces ? 'PARSE_LOCATION_RECORD_FULL_NODE_SCOPE' : 'PARSE_LOCATION_RECORD_NONE',
      },
      descriptorPoolList: BUILTIN_TYPES,
    });
    return answer['resolvedStatement'] as Tree;
  }

  /** @returns rows of values. @throws EngineError */
  async evaluate(sql: string, catalog: string, parameters: Parameters): Promise<readonly (readonly Tree[])[]> {
    const answer = await call((request, done) => this.service.evaluateQuery(request, done), {
      sql,
      registeredCatalogId: catalog,
      options: this.options(parameters),
      params: values(parameters),
      descriptorPoolList: BUILTIN_TYPES,
    });
    const rows = ((answer['content'] as Tree | null)?.['tableData'] as Tree | null)?.['row'] as readonly Tree[] | undefined;
    return (rows ?? []).map((row) => (row['cell'] ?? []) as readonly Tree[]);
  }

  /** Rows that a statement would write. @throws EngineError */
  async modify(sql: string, catalog: string, parameters: Parameters): Promise<readonly ModifiedRow[]> {
    const answer = await call((request, done) => this.service.evaluateModify(request, done), {
      sql,
      registeredCatalogId: catalog,
      // The engine crashes if columns are omitted.
      options: { ...this.options(parameters), pruneUnusedColumns: false },
      params: values(parameters),
      descriptorPoolList: BUILTIN_TYPES,
    });
    return ((answer['content'] ?? []) as readonly Tree[]).map((row) => ({
      operation: row['operation'] as ModifiedRow['operation'],
      cells: (row['cell'] ?? []) as readonly Tree[],
      key: (row['oldPrimaryKey'] ?? []) as readonly Tree[],
    }));
  }

  /** @returns the id of the prepared statement */
  async register(tables: readonly EngineTable[]): Promise<string> {
    const answer = await call((request, done) => this.service.registerCatalog(request, done), {
      simpleCatalog: {
        name: 'bigquery',
        builtinFunctionOptions: { languageOptions: this.language },
        table: tables.map(({ name, columns, key }) => ({ name, column: columns, primaryKeyColumnIndex: key ?? [] })),
      },
      tableContent: Object.fromEntries(
        tables.map(({ name, rows }) => [name, { tableData: { row: rows.map((cell) => ({ cell })) } }]),
      ) as Tree,
      descriptorPoolList: BUILTIN_TYPES,
    });
    return answer['registeredId'] as string;
  }

  async unregister(catalog: string): Promise<void> {
    await call((request, done) => this.service.unregisterCatalog(request, done), { registeredId: catalog });
  }

  private options({ list }: Parameters): Tree {
    return {
      languageOptions: this.language,
      parameterMode: 'PARAMETER_NAMED',
      errorMessageMode: 'ERROR_MESSAGE_ONE_LINE',
      defaultTimezone: 'UTC',
      pruneUnusedColumns: true,
      queryParameters: list.map(({ name, type }) => ({ name, type })),
    };
  }
}

export interface Parameters {
  readonly list: readonly EngineParameter[];
  readonly isPositional: boolean;
}

export interface EngineTable {
  readonly name: string;
  /** `{name, type}` */
  readonly columns: readonly Tree[];
  readonly rows: readonly (readonly Tree[])[];
  /** Column indexes, from 0. */
  readonly key?: readonly number[];
}

export interface ModifiedRow {
  readonly operation: 'INSERT' | 'UPDATE' | 'DELETE';
  readonly cells: readonly Tree[];
  readonly key: readonly Tree[];
}

function values({ list }: Parameters): readonly Tree[] {
  return list.map(({ name, value }) => ({ name, value }));
}

/** gRPC codes INTERNAL and UNAVAILABLE: a defect of the engine, or a process that has ended. */
const NOT_OF_THE_STATEMENT: readonly number[] = [13, 14];

function call(method: Method, request: Tree): Promise<Tree> {
  return new Promise((resolve, reject) => {
    method(request, (error, answer) => {
      if (error === null) resolve(answer);
      else if (NOT_OF_THE_STATEMENT.includes(error.code)) reject(new Error(`ZetaSQL fails or has ended: ${error.details}`));
      else reject(new EngineError(error.details));
    });
  });
}
