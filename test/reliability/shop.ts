import type { Reply } from '../support/hosts/http-client.js'
import type { EnvironmentState } from './environment-model.js'
import type { Circumstances, Host } from './host-client.js'

const password = 'correct horse battery staple'
let operators = 0

/** The module `shop` of the hosts, as an operator administers it on any of them. */
export interface Shop {
  read(host: Host, environment: string, under?: Circumstances): Promise<Reply>
  patch(host: Host, environment: string, body: object, under?: Circumstances): Promise<Reply>
}

export async function openShop(host: Host): Promise<Shop> {
  operators += 1
  const email = `operator-${process.pid}-${operators}@example.org`
  await host.control('createOperator', { email, password })
  const body = { email, password }
  const reply = await host.send('POST', '/v1/auth/operator/mobile/login', { body })
  const bearer = String(reply.json()['accessToken'])
  const path = (environment: string): string => `/v1/admin/modules/shop/environments/${environment}`
  return {
    read: (at, environment, under = {}) => at.send('GET', path(environment), { bearer, ...under }),
    patch: (at, environment, given, under = {}) =>
      at.send('PATCH', path(environment), { bearer, body: given, ...under }),
  }
}

/** What a reply of either kind shows of an environment; fails for a refusal. */
export function stateOf(reply: Reply): EnvironmentState {
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
  const { revision, config, recordLists } = JSON.parse(reply.text)
  const slugs = recordLists[0].elements.map(({ slug }: { slug: string }) => slug)
  return { revision, text: config.sender ?? '', roster: slugs }
}
