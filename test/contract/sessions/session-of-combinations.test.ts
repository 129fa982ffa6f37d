import { expect, it } from 'vitest'
import { AuthError } from '../../../src/errors/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { otherPassword, signedInApp, signedInPerson, signIn } from '../../support/people/people.js'
import { pass, sessionOf } from '../events/event-scenario.js'

const names = { operator: '__Host-op_refresh', client: '__Host-cl_refresh' } as const
const own = { operator: 'https://admin.example.com', client: 'https://app.example.com' } as const

type Headers = Readonly<Record<string, string>>

/** What an attacker may have or send along, each of a person of its own; only the first is a live session's. */
async function credentialsOf(
  host: ContractHost,
  surface: Surface,
): Promise<Record<string, Headers>> {
  const other = surface === 'operator' ? 'client' : 'operator'
  const at = (path: string): string => `/v1/auth/${surface}${path}`
  const shown = (token: string): Headers => ({ cookie: `${names[surface]}=${token}` })
  const person = () => signedInPerson(host, surface)
  const [replayed, ended, disabled, deleted, changed] = await Promise.all([
    person(),
    person(),
    person(),
    person(),
    person(),
  ])
  await host.send('POST', at('/refresh-cookie'), { cookie: replayed.cookie })
  await host.auth[surface].terminateSession(sessionOf(ended.refreshToken))
  await host.auth[surface].users.update(disabled.id, { enabled: false })
  await host.auth[surface].users.delete(deleted.id)
  const { bearer } = await signIn(host, surface, changed)
  const body = { currentPassword: changed.password, newPassword: otherPassword }
  expect((await host.send('POST', at('/me/password'), { bearer, body })).status).toBe(204)
  const stranger = await signedInPerson(host, other)
  const live = await person()
  // Past the time in which a replaced token still counts.
  await pass(host, 11_000)
  return {
    live: shown(live.refreshToken),
    none: {},
    'a bearer alone': { authorization: `Bearer ${live.bearer}` },
    'an access token as a cookie': shown(live.bearer),
    'a cookie of the other surface': { cookie: stranger.cookie },
    'its token under the name of this one': shown(stranger.refreshToken),
    'a cookie that was replaced': shown(replayed.refreshToken),
    'a session that was ended': shown(ended.refreshToken),
    'a disabled user': shown(disabled.refreshToken),
    'a deleted user': shown(deleted.refreshToken),
    'a changed password': shown(changed.refreshToken),
    'the token of an app': shown((await signedInApp(host, surface)).refreshToken),
    'two people at once': {
      cookie: `${names[surface]}=${live.refreshToken}; ${names[surface]}=${(await person()).refreshToken}`,
    },
  }
}

const uses = ['page', 'action', 'connection', 'mint'] as const
const methods = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'post']
const sites = [undefined, 'same-origin', 'same-site', 'cross-site', 'none']

/** The rules in words: what is refused, whatever cookie comes with it; null for a request that may ask. */
function refusalOf(
  use: (typeof uses)[number],
  method: string,
  from: { readonly isListed: boolean | null; readonly site: string | undefined },
): string | null {
  const isRead = method === 'GET' || method === 'HEAD'
  if (use === 'page') return isRead ? null : 'method_not_allowed'
  if (use !== 'connection' && method !== 'POST' && method !== 'DELETE') return 'method_not_allowed'
  if (from.site === 'same-origin' || from.isListed === true) return null
  if (use === 'connection') return 'csrf_rejected'
  const isOfNoBrowser = from.isListed === null && from.site === undefined
  return from.site === 'none' || isOfNoBrowser ? null : 'csrf_rejected'
}

type Use = (typeof uses)[number]

/** What a host learns: `somebody`, `token` with an access token, `nobody`, or the code of a refusal. */
async function outcome(
  { sessionOf: read }: ContractHost['auth'][Surface],
  use: Use,
  request: { readonly method: string; readonly headers: Headers },
): Promise<string> {
  try {
    const found = await asked(read, use, request)
    if (found === null) return 'nobody'
    return 'access' in found ? 'token' : 'somebody'
  } catch (error) {
    return error instanceof AuthError ? error.code : String(error)
  }
}

function asked(
  read: ContractHost['auth'][Surface]['sessionOf'],
  use: Use,
  request: { readonly method: string; readonly headers: Headers },
) {
  if (use === 'mint') return read(request, { use: 'action', mint: true })
  if (use === 'page') return read(request, { use })
  return use === 'action' ? read(request, { use }) : read(request, { use })
}

function originHeaders(origin: string | undefined, site: string | undefined): Headers {
  return {
    ...(origin === undefined ? {} : { origin }),
    ...(site === undefined ? {} : { 'sec-fetch-site': site }),
  }
}

function foundBy(name: string, use: Use): string {
  if (name !== 'live') return 'nobody'
  return use === 'mint' ? 'token' : 'somebody'
}

/** Every combination of the values of these lists. */
function product<A, B, C>(as: readonly A[], bs: readonly B[], cs: readonly C[]) {
  return as.flatMap((a) => bs.flatMap((b) => cs.map((c) => [a, b, c] as const)))
}

eachSurface.describe('what can be combined', (surface) => {
  const origins: readonly (readonly [string | undefined, boolean | null])[] = [
    [undefined, null],
    [own[surface], true],
    ['https://shop.example.com', false],
    [own[surface === 'operator' ? 'client' : 'operator'], false],
    ['null', false],
  ]
  const requests = product(methods, origins, sites)

  it('only a live session’s cookie is somebody, in a request that its use lets through', async () => {
    const host = await openHost(withoutLimits)
    const credentials = Object.entries(await credentialsOf(host, surface))
    for (const [[name, credential], use, [method, [origin, isListed], site]] of product(
      credentials,
      uses,
      requests,
    )) {
      const headers = { ...credential, ...originHeaders(origin, site) }
      const expected = refusalOf(use, method, { isListed, site }) ?? foundBy(name, use)
      const said = await outcome(host.auth[surface], use, { method, headers })
      if (said !== expected) {
        expect.fail(`${said}, not ${expected}: ${name}, ${use}, ${method}, ${origin}, ${site}`)
      }
    }
    expect(requests).toHaveLength(175)
    expect(credentials).toHaveLength(13)
  })
})
