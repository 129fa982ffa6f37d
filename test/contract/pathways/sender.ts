import type { Step, Walk } from './pathway.js'

/** The last step of a pathway: this body, posted to this path. */
export function sender(
  { host, surface }: Pick<Walk, 'host' | 'surface'>,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Step {
  return ({ at = surface, from }) =>
    host.send('POST', `/v1/auth/${at}${path}`, {
      body,
      headers: { ...headers, ...(from === undefined ? {} : { 'x-forwarded-for': from }) },
    })
}
