const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/** Returns the path and query of a request target: proxies may send it with scheme and host (RFC 9112, section 3.2.2). */
export function originForm(target = '/'): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(ABSOLUTE, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}
