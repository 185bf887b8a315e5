import type { JsonObject } from '../../../util/json.ts';

/** Offsets into the source of a template; the end is exclusive. */
export interface SourceSpan {
  readonly start: number;
  readonly end: number;
}

export type TemplateErrorCode =
  | 'Lex Error'
  | 'Parse Error'
  | 'Name Error'
  | 'Attribute Error'
  | 'Type Error'
  | 'Index Error'
  | 'Function Error'
  | 'TransformationError';

/** A template that cannot be parsed or evaluated. */
export class TemplateError extends Error {
  readonly code: TemplateErrorCode;
  readonly source: string;
  readonly span: SourceSpan;

  constructor(code: TemplateErrorCode, message: string, source: string, span: SourceSpan) {
    super(message);
    this.name = 'TemplateError';
    this.code = code;
    this.source = source;
    this.span = span;
  }

  /** Prints the error for clients: lines count from 0, columns from 1 in characters, the end column is exclusive. */
  toJson(): JsonObject {
    const start = position(this.source, this.span.start);
    const end = position(this.source, this.span.end);
    return {
      error_code: this.code,
      message: this.message,
      source_position: { start_line: start.line, start_column: start.column, end_line: end.line, end_column: end.column },
    };
  }
}

function position(source: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 0;
  let column = 1;
  let index = 0;
  for (const character of source) {
    if (index >= offset) break;
    index += character.length;
    if (character === '\n') {
      line += 1;
      column = 1;
    } else column += 1;
  }
  return { line, column };
}
