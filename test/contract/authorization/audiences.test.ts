import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { textOf } from '../../support/hosts/http-client.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInApp, signedInPerson } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'

const everything = { check: async () => true }

/** Tokens of each kind, of accounts that may do everything. */
async function tokensOf(options: Parameters<typeof openHost>[0] = {}) {
  const host = await openHost({ ...withoutLimits, authorizer: everything, ...options })
  const admin = await administrator(host)
  const operator = await signedInPerson(host, 'operator')
  const client = await signedInPerson(host, 'client')
  const service = await tokenOf(host, await serviceAccount(host, admin))
  return { host, operator, client, service }
}

describe('the audience of an access token', () => {
  it('of a service account opens the operator surface, as far as its permissions go', async () => {
    const { host, operator, service } = await tokensOf()
    expect([decodeJwt(service).aud, decodeJwt(operator.bearer).aud]).toEqual([
      'service',
      'operator',
    ])
    for (const bearer of [service, operator.bearer]) {
      expect(outcomeOf(await host.send('GET', accountsPath, { bearer }))).toBe('200')
    }
    const asked: string[] = []
    const refusing = {
      async check({ kind, permission }: { kind: string; permission: string }) {
        if (kind === 'service') asked.push(permission)
        return kind === ''
      },
    }
    const other = await tokensOf({ authorizer: refusing })
    const refused = await other.host.send('GET', accountsPath, { bearer: other.service })
    expectProblem(refused, 403, 'permission_denied')
    expect(asked).toEqual(['auth.service_accounts.read'])
  })

  it('opens nothing on the client surface but its own', async () => {
    const { host, operator, client, service } = await tokensOf()
    const ofClients = operations.filter(
      ({ access, surfaces }) => access !== 'public' && surfaces.includes('client'),
    )
    expect(ofClients.length).toBeGreaterThan(15)
    for (const { method, path } of ofClients) {
      const url = path.replace('{surface}', 'client').replaceAll(/\{\w+\}/g, 'x')
      for (const bearer of [operator.bearer, service]) {
        const body = method === 'GET' ? {} : { body: {} }
        const reply = await host.send(method, url, { bearer, ...body })
        expectProblem(reply, 401, 'audience_mismatch')
        expect(reply.json()).toEqual({
          status: 401,
          title: 'Unauthorized',
          detail: expect.any(String),
          code: 'audience_mismatch',
        })
      }
    }
    const own = await host.send('GET', '/v1/auth/client/me', { bearer: client.bearer })
    expect(outcomeOf(own)).toBe('200')
    const astray = await host.send('GET', '/v1/auth/operator/me', { bearer: client.bearer })
    expectProblem(astray, 401, 'audience_mismatch')
  })
})

describe('what a token says', () => {
  it('is no permission, in any token of any account', async () => {
    const held = ['auth.self', 'auth.service_accounts.manage', 'reports.read']
    const authorizer = {
      check: async ({ permission }: { permission: string }) =>
        held.includes(permission) ||
        permission.startsWith('auth.') ||
        permission.startsWith('system.'),
    }
    const { host, operator, client, service } = await tokensOf({ authorizer })
    const app = await signedInApp(host, 'operator')
    const session = await host.send('GET', '/v1/auth/operator/session', { cookie: operator.cookie })
    const tokens = [
      ...[operator.bearer, client.bearer, service, app.bearer],
      ...[operator.refreshToken, client.refreshToken, app.refreshToken],
      textOf(session.json(), 'accessToken'),
    ]
    const known = [
      ...['iss', 'aud', 'sub', 'sid', 'jti', 'iat', 'exp', 'tokenUse', 'memberships', 'amr'],
      ...['authTime', 'auth_time', 'client_id', 'acr', 'gen', 'nbf'],
    ]
    for (const token of tokens) {
      const claims = decodeJwt(token)
      expect(Object.keys(claims).filter((name) => !known.includes(name))).toEqual([])
      expect(JSON.stringify(claims)).not.toMatch(/permission|scope|"auth\.|"system\.|reports\.read/)
    }
  })
})
