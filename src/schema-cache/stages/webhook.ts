/** Whether the calls of a webhook can be made with what the environment has. */
import { addressComplaint } from '../../metadata/called-address.ts';
import {
  type ConfiguredText,
  type Environment,
  environmentVariable,
  filledTemplate,
  headerComplaint,
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

/** @param missing makes the defect of a variable that is not set @throws Defect */
export function checkWebhook(
  { url, headers, signature, requestTransform }: NeededByWebhook,
  environment: Environment,
  missing: (message: string) => Defect = (message) => new Defect(message),
): void {
  const check = (text: ConfiguredText): string =>
    text.kind === 'template'
      ? filledTemplate(text.text, environment, (names) => missing(variablesNotFound(names)))
      : environmentVariable(text.name, environment, (names) => missing(variablesNotSet(names)));
  const address = check(url);
  // What a transform makes of it is seen at the call.
  const complaint = requestTransform?.url === undefined ? addressComplaint('webhook', url, address) : null;
  if (complaint !== null) throw new Defect(complaint);
  for (const { name, value = '', valueFromEnv: variable } of headers) {
    const wrong = headerComplaint(
      name,
      check(variable === undefined ? { kind: 'template', text: value } : { kind: 'environment', name: variable }),
    );
    if (wrong !== null) throw new Defect(wrong);
  }
  if (signature !== undefined) check({ kind: 'environment', name: signature.secretFromEnv });
}
