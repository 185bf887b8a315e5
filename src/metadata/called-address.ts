/** Addresses that the metadata have calls made to: webhooks, handlers, hooks of permissions. Only http and https can be called. */
import { isWebUrl } from '../util/web-url.ts';
import type { ConfiguredText } from './environment-template.ts';

/**
 * Why no call can be made to an address; null: it can. Values of the environment are not told.
 * @param what it is called, such as `webhook`
 * @param filled the address with its variables filled in
 */
export function addressComplaint(what: string, address: ConfiguredText, filled: string): string | null {
  if (isWebUrl(filled)) return null;
  return address.kind === 'template'
    ? `the ${what} ${JSON.stringify(address.text)} is no http or https URL`
    : `the ${what} in the environment variable "${address.name}" is no http or https URL`;
}

/** As `addressComplaint`, of a template of which nothing is filled in: only what it says itself counts. */
export function templateComplaint(what: string, template: string): string | null {
  const variable = template.indexOf('{{');
  const written = variable < 0 ? template : template.slice(0, variable);
  const isRight = variable < 0 ? isWebUrl(written) : !/^[^/?#]*:/.test(written) || /^https?:/i.test(written);
  return isRight ? null : `the ${what} ${JSON.stringify(template)} is no http or https URL`;
}
