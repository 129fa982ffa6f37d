import { describe, expect, it } from 'vitest'
import { consolePermissions } from '../../../examples/console/host/console-permissions.js'
import { operatorRoutes } from '../../../examples/console/host/operator-routes.js'
import { statusMetrics } from '../../../examples/console/host/status-metrics.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply, SendOptions } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import { person, signedInPerson } from '../../support/people/people.js'
import { serviceAccount, tokenOf } from '../../support/people/service-account-steps.js'
import { type GuardedRoute, operatorRouteTable } from './operator-route-table.js'
import { grant, operatorOf, operatorRoutesHost, operatorWith } from './operator-routes-host.js'

const nobody = '0191f3a0-0000-7000-8000-000000000000'

/** The path of a request: the surface, and the same id wherever one stands. */
function pathOf({ path, query = '' }: GuardedRoute, surface: string, id = nobody): string {
  const filled = path.replace(':surface', surface).replace(/:\w+/g, id)
  return `/api${filled}${query}`
}

function ask(
  host: ContractHost,
  route: GuardedRoute,
  options: SendOptions & { surface?: string; id?: string },
) {
  const { surface = 'client', id, ...rest } = options
  const body = route.body === undefined ? {} : { body: route.body }
  return host.send(route.method, pathOf(route, surface, id), { ...body, ...rest })
}

/** Every reply of the console's routes, refusals among them. */
function expectHeaders(reply: Reply): void {
  expect(reply.headers.get('cache-control')).toBe('no-store')
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
}

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> }
  readonly handle: { readonly stack?: readonly Layer[] }
}

function declaredIn(layers: readonly Layer[]): readonly string[] {
  return layers.flatMap(({ route, handle }) => {
    if (route === undefined) return declaredIn(handle.stack ?? [])
    return Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`)
  })
}

const name = ({ method, path }: GuardedRoute) => `${method} ${path}`

describe('the console’s own routes', () => {
  it('are all in the table that the other tests walk', async () => {
    const { auth } = await operatorRoutesHost()
    const declared = declaredIn(
      operatorRoutes(auth, statusMetrics(Date.now)).stack as unknown as readonly Layer[],
    )
    expect([...declared].sort()).toEqual(operatorRouteTable.map(name).sort())
  })

  it('admit operators alone, with the permission, and for a change with a recent second factor', async () => {
    const host = await operatorRoutesHost()
    const client = await signedInPerson(host, 'client')
    const admin = await operatorOf(host, 'super_admin')
    const machine = await tokenOf(host, await serviceAccount(host, admin))
    for (const route of operatorRouteTable) {
      const others = consolePermissions
        .map(({ key }) => key)
        .filter((key) => key !== route.permission)
      const without = await operatorWith(host, ...others)
      const unproved = await enrolled(host, 'operator')
      await grant(host, unproved.id, [route.permission])
      const plain = await signedInPerson(host, 'operator')
      await grant(host, plain.id, [route.permission])
      const replies = {
        none: await ask(host, route, {}),
        garbage: await ask(host, route, { bearer: 'garbage' }),
        cookie: await ask(host, route, { cookie: admin.cookie }),
        client: await ask(host, route, { bearer: client.bearer }),
        machine: await ask(host, route, { bearer: machine }),
        without: await ask(host, route, { bearer: without.bearer }),
        unproved: await ask(host, route, { bearer: unproved.bearer }),
        plain: await ask(host, route, { bearer: plain.bearer }),
      }
      const outcomes = Object.fromEntries(
        Object.entries(replies).map(([who, reply]) => [who, outcomeOf(reply)]),
      )
      const served = route.changes
        ? {}
        : { unproved: outcomes['unproved'], plain: outcomes['plain'] }
      expect(outcomes, name(route)).toEqual({
        none: '401',
        garbage: '401',
        cookie: '401',
        client: '401 audience_mismatch',
        machine: '403 permission_denied',
        without: '403 permission_denied',
        unproved: '403 step_up_required',
        plain: '403 mfa_enrollment_required',
        ...served,
      })
      if (!route.changes) {
        for (const who of [replies.unproved, replies.plain])
          expect([200, 404]).toContain(who.status)
      }
      for (const reply of Object.values(replies)) expectHeaders(reply)
    }
  })

  it('refuse what is of another form, name the member and repeat no value', async () => {
    const host = await operatorRoutesHost()
    const { bearer } = await operatorOf(host, 'super_admin')
    const { id } = await person(host, 'operator')
    for (const route of operatorRouteTable) {
      for (const malformed of route.malformed) {
        const given =
          typeof malformed === 'string'
            ? await host.send(
                route.method,
                pathOf({ ...route, query: malformed }, 'operator', id),
                { bearer },
              )
            : await ask(host, route, { bearer, surface: 'operator', id, body: malformed })
        expect(outcomeOf(given), `${name(route)} ${JSON.stringify(malformed)}`).toBe(
          '400 invalid_request',
        )
        expectHeaders(given)
      }
    }
    const path = `/api/users/operator/${id}`
    const headers = { 'content-type': 'application/json' }
    const named = await host.send('PATCH', path, { bearer, body: { name: 7 } })
    expect(named.json()).toEqual({
      status: 400,
      title: 'Bad Request',
      detail: '"name" is missing or not of the expected form.',
      code: 'invalid_request',
      field: 'name',
    })
    const torn = await host.send('PATCH', path, { bearer, body: '{"name":"secret', headers })
    expect([outcomeOf(torn), torn.text.includes('secret')]).toEqual(['400 invalid_request', false])
    const form = { bearer, body: 'name=Ada', headers: { 'content-type': 'text/plain' } }
    expect(outcomeOf(await host.send('PATCH', path, form))).toBe('400 invalid_request')
    const big = await host.send('PATCH', path, { bearer, body: { name: 'a'.repeat(20_000) } })
    expect(outcomeOf(big)).toBe('413 payload_too_large')
  })

  it('answer 404 for what is not there', async () => {
    const host = await operatorRoutesHost()
    const { bearer } = await operatorOf(host, 'super_admin')
    // Of an id that does not exist, or exists no more, no bindings are the truth.
    const isEmpty = (route: GuardedRoute) => name(route) === 'GET /bindings/:surface/:userId'
    for (const route of operatorRouteTable.filter(({ path }) => /:(?!surface)/.test(path))) {
      for (const id of [nobody, 'no-id', '%00', 'a'.repeat(300)]) {
        const reply = await ask(host, route, { bearer, surface: 'operator', id })
        expect(reply.status, `${name(route)} ${id}`).toBe(isEmpty(route) ? 200 : 404)
      }
    }
  })

  it('answer 404 for another word in the place of a surface', async () => {
    const host = await operatorRoutesHost()
    const { bearer } = await operatorOf(host, 'super_admin')
    for (const route of operatorRouteTable.filter(({ path }) => path.includes(':surface'))) {
      const reply = await ask(host, route, { bearer, surface: 'staff' })
      expect(outcomeOf(reply), name(route)).toBe('404 not_found')
    }
    expect(outcomeOf(await host.send('GET', '/api/elsewhere', { bearer }))).toBe('404 not_found')
  })

  it('answer 503 when the store fails, and leak nothing', async () => {
    let isBroken = false
    const { backend } = await operatorRoutesHost()
    const host = await operatorRoutesHost({
      backend: {
        ...backend,
        store: {
          ...backend.store,
          collection: (spec) => {
            const real = backend.store.collection(spec)
            if (!spec.name.endsWith('audit_records')) return real
            const find: typeof real.find = async (...given) => {
              if (isBroken) throw new Error('secret driver message')
              return real.find(...given)
            }
            return { ...real, find }
          },
        },
      },
    })
    const { bearer, id } = await operatorOf(host, 'super_admin')
    const path = `/api/audit/operator?account=${id}`
    expect((await host.send('GET', path, { bearer })).status).toBe(200)
    isBroken = true
    const reply = await host.send('GET', path, { bearer })
    expect([outcomeOf(reply), reply.headers.get('retry-after')]).toEqual([
      '503 service_unavailable',
      '1',
    ])
    expect(reply.text).not.toContain('secret')
  })
})
