import { describe, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { flows } from '../../flows/catalogue.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import type { Reply, SendOptions } from '../../support/hosts/http-client.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person, signedInPerson } from '../../support/people/people.js'
import { administrator } from '../../support/people/service-account-steps.js'
import { excerpt, secretsOf } from '../../support/stores/secrets.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

const canary = 'canary-7f3a9c-do-not-repeat'

/** Lines of a stack, paths of sources, and hashes of passwords. */
const inner =
  /\n\s*at |\\n\s*at |node_modules|[\w-]+\.[cm]?[jt]s:\d+:\d+\)?\\?n|\$argon2|BEGIN [A-Z ]*KEY/

const shownBy = (reply: Reply) =>
  [reply.status, ...reply.headers, ...reply.setCookies, reply.text].join('\n')
const told = ({ logger, events }: ContractHost) => JSON.stringify([logger.lines, events])

const rows = operations.flatMap(({ id, surfaces }) => surfaces.map((surface) => ({ id, surface })))

function operationOf(id: string) {
  const found = operations.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no operation ${id}`)
  return found
}

/** The path with something in place of each name in it. */
const pathOf = (id: string, surface: Surface, name: string) =>
  operationOf(id)
    .path.replace('{surface}', surface)
    .replaceAll(/\{\w+\}/g, name)

/** Every place of a request that a caller can fill. */
function filled(bearer: string, cookieName: string): readonly SendOptions[] {
  const members = [
    ...['email', 'password', 'newPassword', 'currentPassword', 'refreshToken', 'token', 'mfaToken'],
    ...['code', 'codeVerifier', 'clientId', 'clientSecret', 'name', 'challengeId', 'revision'],
    ...['environment', 'redirectUri', 'method', 'grantType', 'newEmail', 'deviceToken', 'appState'],
  ]
  const all = Object.fromEntries(members.map((member) => [member, canary]))
  const json = { 'content-type': 'application/json' }
  const cookie = `${cookieName}=${canary}.${canary}.${canary}`
  const bodies: readonly SendOptions[] = [
    { body: {} },
    { body: all },
    { body: { ...all, email: `${canary}@example.org`, grantType: 'client_credentials' } },
    { body: { [canary]: canary } },
    { body: { config: { [canary]: canary }, recordLists: [{ field: canary }] } },
    { body: [canary] },
    { body: `{"${canary}"`, headers: json },
    { body: `${canary}=${canary}`, headers: { 'content-type': canary } },
  ]
  return bodies.flatMap((given) => [
    { ...given, bearer },
    { ...given, bearer: `${canary}.${canary}.${canary}` },
    { ...given, cookie, headers: { origin: `https://${canary}.example`, ...given.headers } },
  ])
}

const everything: HostOptions = { ...withoutLimits, authorizer: { check: async () => true } }

describe.each(rows)('$id on $surface', ({ id, surface }) => {
  const { method } = operationOf(id)

  it('repeats nothing that it was sent, in a body, a header, the log or an event', async () => {
    const host = await openHost(everything)
    const proved = surface === 'operator' ? await administrator(host) : null
    const { bearer } = proved ?? (await signedInPerson(host, surface))
    const cookieName = surface === 'operator' ? '__Host-op_refresh' : '__Host-cl_refresh'
    for (const given of filled(bearer, cookieName)) {
      const { body, ...bodiless } = given
      const options = method === 'GET' ? bodiless : given
      const reply = await host.send(method, `${pathOf(id, surface, canary)}?q=${canary}`, options)
      if (reply.status < 400) continue
      expect(excerpt(shownBy(reply), 'canary-7')).toBeNull()
      expect(excerpt(shownBy(reply), inner)).toBeNull()
      expect(excerpt(shownBy(reply), bearer)).toBeNull()
    }
    await host.auth.close()
    expect(excerpt(told(host), 'canary-7')).toBeNull()
    expect(excerpt(told(host), inner)).toBeNull()
    expect(secretsOf(bearer, 'canary-7f3a9c').foundIn(told(host))).toEqual([])
  })

  it('tells nothing of a store that fails in the middle of it', async () => {
    const [flow] = flows.filter(({ of }) => of === id)
    if (flow === undefined) throw new Error(`no flow of ${id}`)
    const { settings, ...options } = flow.options ?? {}
    const spy = spyBackend()
    const host = await openHost({
      ...everything,
      ...options,
      settings: { ...withoutLimits.settings, ...settings },
      backend: spy.backend,
    })
    const who = await person(host, surface)
    const { step } = await flow.prepare({ host, surface, who, enrolled: null })
    await host.auth.close()
    spy.fail(() =>
      Object.assign(new Error(`insert failed (${canary})`), {
        code: '23505',
        detail: `Key (email)=(${canary}) already exists.`,
        stack: `Error: insert failed (${canary})\n    at query (/srv/${canary}/client.js:1:1)`,
      }),
    )
    const reply = await step()
    await host.auth.close()
    expect(excerpt(shownBy(reply), canary)).toBeNull()
    expect(excerpt(shownBy(reply), inner)).toBeNull()
    expect(excerpt(told(host), canary)).toBeNull()
    expect(excerpt(told(host), inner)).toBeNull()
    spy.fail(null)
  })
})
