declare module 'sql.js' {
  interface Statement {
    bind(values: readonly (string | null)[]): boolean;
    step(): boolean;
  }
  interface Database {
    run(sql: string): Database;
    export(): Uint8Array;
    close(): void;
  }
  const initSqlJs: () => Promise<{ readonly Database: new (file?: Uint8Array) => Database }>;
  export = initSqlJs;
}
