/** Checks that a webhook can be called in the current environment. */
import { addressProblem } from '../../metadata/called-address.ts';
import {
  type ConfiguredText,
  type EnvironmentVariables,
  environmentVariable,
  filledTemplate,
  headerProblem,
  type HeaderDefinition,
  variablesNotFound,
  variablesNotSet,
} from '../../metadata/environment-template.ts';
import type { Signature } from '../../metadata/signature.ts';
import type { RequestTransform } from '../../metadata/transform.ts';
import { Defect } from '../inconsistency.ts';

interface NeededByWebhook {
  readonly url: ConfiguredText;
  readonly headers: readonly HeaderDefinition[];
  readonly signature?: Signature | undefined;
  readonly requestTransform?: RequestTransform | undefined;
}

/** @param missing returns the defect of a variable that is not set @throws Defect */
export function checkWebhook(
  { url, headers, signature, requestTransform }: NeededByWebhook,
  environment: EnvironmentVariables,
  missing: (message: string) => Defect = (message) => new Defect(message),
): void {
  const check = (text: ConfiguredText): string =>
    text.kind === 'template'
      ? filledTemplate(text.text, environment, (variables) => missing(variablesNotFound(variables)))
      : environmentVariable(text.name, environment, (variables) => missing(variablesNotSet(variables)));
  const address = check(url);
  // A URL that a transform produces is checked when it is called.
  const problem = requestTransform?.url === undefined ? addressProblem('webhook', url, address) : null;
  if (problem !== null) throw new Defect(problem);
  for (const { name, value = '', valueFromEnv: variable } of headers) {
    const headerDefect = headerProblem(
      name,
      check(variable === undefined ? { kind: 'template', text: value } : { kind: 'environment', name: variable }),
    );
    if (headerDefect !== null) throw new Defect(headerDefect);
  }
  if (signature !== undefined) check({ kind: 'environment', name: signature.secretFromEnv });
}
