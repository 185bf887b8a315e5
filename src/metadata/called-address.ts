/** Addresses in the metadata that the service calls: webhooks, handlers, hooks of permissions. Only http and https URLs are allowed. */
import { isWebUrl } from '../util/web-url.ts';
import type { ConfiguredText } from './environment-template.ts';

/**
 * Returns why an address cannot be called, or null if it can. The message does not contain values of the environment.
 * @param what name in messages, such as `webhook`
 * @param filled the address with its variables filled in
 */
export function addressProblem(what: string, address: ConfiguredText, filled: string): string | null {
  if (isWebUrl(filled)) return null;
  return address.kind === 'template'
    ? `the ${what} ${JSON.stringify(address.text)} is no http or https URL`
    : `the ${what} in the environment variable "${address.name}" is no http or https URL`;
}

/** Checks a template before its variables are filled in; see `addressProblem`. Only the text before the first variable counts. */
export function addressTemplateProblem(what: string, template: string): string | null {
  const variable = template.indexOf('{{');
  const fixedText = variable < 0 ? template : template.slice(0, variable);
  const isValid = variable < 0 ? isWebUrl(fixedText) : !/^[^/?#]*:/.test(fixedText) || /^https?:/i.test(fixedText);
  return isValid ? null : `the ${what} ${JSON.stringify(template)} is no http or https URL`;
}
