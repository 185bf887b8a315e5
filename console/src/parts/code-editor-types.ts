export type CodeLanguage = 'graphql' | 'json' | 'sql' | 'sql-mysql' | 'text';

export interface CodeMark {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

export interface Completion {
  readonly label: string;
  readonly detail?: string;
  readonly info?: string;
  readonly apply?: string;
  readonly boost?: number;
}

export interface Completions {
  readonly options: readonly Completion[];
}
