const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/** The path and query of a request's target: proxies may write it with the scheme and the host (RFC 9112, section 3.2.2). */
export function originForm(target = '/'): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(ABSOLUTE, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}
