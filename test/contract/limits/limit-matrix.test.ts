import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RateLimits } from '../../../src/domain/limits/rate-limiter.js'
import { operations } from '../../../src/operations/index.js'
import type { Operation } from '../../../src/operations/operation.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost, HostKind } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { newAddress, outcomeOf, surfaces } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Person, person } from '../../support/people/people.js'
import {
  addressLimits,
  countsAs,
  type Limit,
  type SessionLimit,
  sessionLimits,
} from './limit-table.js'

const limited = '429 rate_limited'
const limit = 2
const scarce = { limit, windowMs: 60 * 60_000 }
const names = Object.keys(withoutLimits.surfaces.client.rateLimits) as (keyof RateLimits)[]
const all = Object.fromEntries(names.map((name) => [name, scarce]))

/** Who comes from where, with what. */
interface Caller {
  readonly address: string
  readonly bearer?: string
}

const isOfSession = (one: Limit): one is SessionLimit => one in sessionLimits

const operationOf = (id: string): Operation => {
  const found = operations.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no operation ${id}`)
  return found
}

/** One request, of which nothing but its route and its caller is right. */
async function ask(host: ContractHost, surface: Surface, id: string, { address, bearer }: Caller) {
  const { path, method, usesRefreshCookie } = operationOf(id)
  // Without a cookie, there is nothing to refresh, and nothing is counted.
  const cookie = surface === 'operator' ? '__Host-op_refresh=junk' : '__Host-cl_refresh=junk'
  const id0 = '01940000-0000-7000-8000-000000000001'
  const url = path.replace('{surface}', surface).replaceAll(/\{\w+\}/g, id0)
  const reply = await host.send(method, url, {
    headers: { 'x-forwarded-for': address },
    ...(bearer === undefined ? {} : { bearer }),
    ...(usesRefreshCookie === 'one' ? { cookie } : {}),
    ...(method === 'GET' ? {} : { body: {} }),
  })
  return outcomeOf(reply)
}

async function signIn(host: ContractHost, surface: Surface, { email, password }: Person) {
  const reply = await host.send('POST', `/v1/auth/${surface}/login`, {
    body: { email, password },
    headers: { 'x-forwarded-for': newAddress() },
  })
  return reply.status === 200 ? textOf(reply.json(), 'accessToken') : outcomeOf(reply)
}

/** The rows of a surface: each route, once for each limit that it may count under. */
const rowsOf = (surface: Surface) =>
  operations
    .filter(({ surfaces: on }) => on.includes(surface))
    .flatMap(({ id }) => (countsAs[id] ?? []).map((as) => ({ id, as })))

const columnsOf = (surface: Surface) =>
  Object.entries({ ...addressLimits, ...sessionLimits })
    .filter(([, id]) => operationOf(id).surfaces.includes(surface))
    .map(([column, id]) => ({ column: column as Limit, id }))

/** What the operation table says of it: an enrolment comes with a token, or with a ticket in its place. */
function limitsOf({ limit: named, access }: Operation): readonly string[] {
  if (named !== 'mfa') return [named]
  if (access === 'enrolling') return ['mfa of the address', 'mfa of the session']
  return [access === 'public' ? 'mfa of the address' : 'mfa of the session']
}

describe('the table of limits', () => {
  it('has each route, with the limit that the operation table names', () => {
    const ids = operations.map(({ id }) => id)
    expect(Object.keys(countsAs).sort()).toEqual([...ids].sort())
    for (const operation of operations) {
      const { id } = operation
      expect([id, [...(countsAs[id] ?? [])].sort()]).toEqual([id, limitsOf(operation)])
    }
  })

  it('has a column for each limit of the operation table', () => {
    const columns = Object.keys({ ...addressLimits, ...sessionLimits })
    const classes = new Set(columns.map((column) => column.replace(/ of the .*/, '')))
    expect(classes).toEqual(new Set(operations.map((one) => one.limit)))
    for (const { column, id } of surfaces.flatMap(columnsOf)) {
      expect(countsAs[id]).toContain(column)
    }
  })
})

/** Every row where it costs little; elsewhere a sample, since counting is the store's affair. */
const isSampled = ({ name }: HostKind) => !/memory|postgres/.test(name)
let cells = 0

eachHost
  .only(({ name }) => !name.includes('two memories'))
  .describe('every route and every limit', (kind) => {
    eachSurface.describe((surface) => {
      let host: ContractHost
      beforeAll(async () => {
        host = await kind.start({
          trustProxy: 1,
          surfaces: {
            operator: { baseUrl: 'https://admin.example.com', rateLimits: all },
            client: { baseUrl: 'https://app.example.com', rateLimits: all },
          },
          settings: {
            loginRateOperator: limit,
            loginRateClient: limit,
            webauthnMode: 'passwordless',
          },
        })
      })
      afterAll(() => host.close())

      const rows = rowsOf(surface).filter((_, index) => !isSampled(kind) || index % 7 === 0)
      it.each(rows)('$id uses up "$as", and nothing else', async ({ id, as }) => {
        const [owner, neighbour] = [await person(host, surface), await person(host, surface)]
        const bearer = await signIn(host, surface, owner)
        const [elsewhere, next] = [
          await signIn(host, surface, owner),
          await signIn(host, surface, neighbour),
        ]
        const address = newAddress()
        const thief: Caller = isOfSession(as) ? { address, bearer } : { address }
        const used: string[] = []
        for (let hit = 0; hit <= limit; hit += 1) used.push(await ask(host, surface, id, thief))
        expect(used.map((outcome) => outcome === limited)).toEqual([false, false, true])

        const seen: [string, boolean][] = []
        for (const { column, id: probe } of columnsOf(surface)) {
          const caller = isOfSession(column) ? { address, bearer } : { address }
          seen.push([column, (await ask(host, surface, probe, caller)) === limited])
        }
        expect(seen).toEqual(columnsOf(surface).map(({ column }) => [column, column === as]))

        // What no thief and no neighbour takes from the owner.
        const stays = {
          'a login from elsewhere': (await signIn(host, surface, owner)).split(' ')[0] !== '429',
          'another session of the owner': await ask(host, surface, 'getMe', {
            address,
            bearer: elsewhere,
          }),
          'a neighbour behind the address': await ask(host, surface, 'getMe', {
            address,
            bearer: next,
          }),
          'a logout of the very session': await ask(host, surface, 'logout', { address, bearer }),
        }
        expect(stays).toEqual({
          'a login from elsewhere': true,
          'another session of the owner': '200',
          'a neighbour behind the address': '200',
          'a logout of the very session': '204',
        })
        cells += seen.length + Object.keys(stays).length
      })
    })

    afterAll(() => {
      console.info(`${cells} cells of limits so far`)
    })
  })
