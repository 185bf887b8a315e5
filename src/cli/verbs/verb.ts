/** A command as data: help, the reference page and shell completion come from it. Its code is loaded when it runs. */
import type { CommandContext, CommandOutcome } from '../context.ts';

export interface VerbOption {
  /** `--name <value>`, `-f, --file <path>` or `--flag`. */
  readonly flags: string;
  readonly help: string;
  readonly choices?: readonly string[];
  readonly default?: string;
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
  /** One line in lower case, without a full stop. */
  readonly summary: string;
  /** Sentences for the help and the reference page. */
  readonly details?: string;
  readonly arguments?: readonly VerbArgument[];
  readonly options: readonly VerbOption[];
  readonly needs: 'files' | 'service' | 'sometimes a service';
  readonly example: string;
  load(): Promise<(context: CommandContext) => Promise<CommandOutcome>>;
}

export interface VerbGroup {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
}
