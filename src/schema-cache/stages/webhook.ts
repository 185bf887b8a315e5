/** Whether the environment has what the calls of a webhook need. */
import {
  type ConfiguredText,
  type Environment,
  environmentVariable,
  filledTemplate,
  type HeaderDefinition,
  variablesNotFound,
  variablesNotSet,
} from '../../metadata/environment-template.ts';
import type { Signature } from '../../metadata/signature.ts';
import { Defect } from '../inconsistency.ts';

interface NeededByWebhook {
  readonly url: ConfiguredText;
  readonly headers: readonly HeaderDefinition[];
  readonly signature?: Signature | undefined;
}

interface Refusals {
  /** A variable is not set that is named as a whole. */
  variable(message: string): Defect;
  /** One is not set that a template has. */
  template(message: string): Defect;
}

const plainly = (message: string): Defect => new Defect(message);

/** @throws Defect of `refusals` */
export function checkWebhook(
  { url, headers, signature }: NeededByWebhook,
  environment: Environment,
  refusals: Refusals = { variable: plainly, template: plainly },
): void {
  const check = (text: ConfiguredText): void => {
    if (text.kind === 'template') filledTemplate(text.text, environment, (names) => refusals.template(variablesNotFound(names)));
    else environmentVariable(text.name, environment, (names) => refusals.variable(variablesNotSet(names)));
  };
  check(url);
  for (const { value = '', valueFromEnv: name } of headers) {
    check(name === undefined ? { kind: 'template', text: value } : { kind: 'environment', name });
  }
  if (signature !== undefined) check({ kind: 'environment', name: signature.secretFromEnv });
}
