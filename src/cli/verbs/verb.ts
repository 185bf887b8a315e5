/** A command of the command line as data: help, the reference page and completion come from it; its code is loaded when it is run. */
import type { Call, Outcome } from '../call.ts';

export interface VerbOption {
  /** As commander reads it: `--name <value>`, `-f, --file <path>`, `--flag`. */
  readonly flags: string;
  readonly help: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  /** May be given several times. */
  readonly many?: boolean;
  readonly mandatory?: boolean;
}

export interface VerbArgument {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  readonly many?: boolean;
}

export interface Verb {
  /** `['metadata', 'apply']` */
  readonly path: readonly string[];
  readonly aliases?: readonly string[];
  /** One line. */
  readonly summary: string;
  /** Sentences for its help and for the reference. */
  readonly details?: string;
  readonly arguments?: readonly VerbArgument[];
  readonly options: readonly VerbOption[];
  /** What it needs: nothing but files, a service, or a service for some of what it does. */
  readonly needs: 'files' | 'service' | 'sometimes a service';
  readonly example: string;
  load(): Promise<(call: Call) => Promise<Outcome>>;
}

export interface VerbGroup {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
}
