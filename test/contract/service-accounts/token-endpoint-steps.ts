import type { ContractHost } from '../../support/hosts/hosts.js'
import type { IssuedCredential } from '../../support/people/service-account-steps.js'

export type Pair = Pick<IssuedCredential, 'clientId' | 'clientSecret'>
export type Asked = Readonly<{
  body?: string
  basic?: string
  query?: string
  headers?: Readonly<Record<string, string>>
}>

/** The token endpoint of OAuth libraries, and how its callers ask. */
export const path = '/v1/auth/oauth2/token'
export const form = 'application/x-www-form-urlencoded'
export const granting = 'grant_type=client_credentials'
export const unknown: Pair = {
  clientId: `sa_${'a'.repeat(22)}`,
  clientSecret: `sas_${'a'.repeat(43)}`,
}

export function ask(host: ContractHost, { body = granting, basic, query = '', headers }: Asked) {
  const authorization = basic === undefined ? {} : { authorization: `Basic ${basic}` }
  return host.send('POST', `${path}${query}`, {
    body,
    headers: { 'content-type': form, ...authorization, ...headers },
  })
}

const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+')
export const basicOf = ({ clientId, clientSecret }: Pair): string =>
  Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')
export const formOf = ({ clientId, clientSecret }: Pair): string =>
  `${granting}&client_id=${encoded(clientId)}&client_secret=${encoded(clientSecret)}`

export const methods: Readonly<Record<string, (pair: Pair) => Asked>> = {
  client_secret_basic: (pair) => ({ basic: basicOf(pair) }),
  client_secret_post: (pair) => ({ body: formOf(pair) }),
}
export const byBasic = (pair: Pair): Asked => ({ basic: basicOf(pair) })
export const byForm = (pair: Pair): Asked => ({ body: formOf(pair) })
