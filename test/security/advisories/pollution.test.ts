import { afterEach, describe, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import { configHost } from '../../contract/config/config-host.js'
import { locationOf, oauthHost } from '../../contract/oauth/oauth-host.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { openHost, storedUser } from '../../support/hosts/open-host.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person } from '../../support/people/people.js'
import { administrator } from '../../support/people/service-account-steps.js'

const planted = '{"polluted":"yes","enabled":true,"allow":true,"systemRole":"super_admin"}'

/** Bodies as text: an object literal would not keep the key. */
const bodies = [
  `{"__proto__":${planted}}`,
  `{"constructor":{"prototype":${planted}}}`,
  `{"email":{"__proto__":${planted}},"password":{"constructor":{"prototype":${planted}}}}`,
  `{"config":{"__proto__":${planted}},"recordLists":[{"field":"__proto__","__proto__":${planted}}]}`,
  `{"config":{"__proto__.polluted":"yes","constructor.prototype.polluted":"yes"}}`,
  `[{"__proto__":${planted}}]`,
  `{"name":"x","__proto__":${planted}}`,
]

const untouched = Object.getOwnPropertyNames(Object.prototype).sort()
const fresh: Record<string, unknown> = {}

/** The host runs in this process: what it poisons is poisoned here. */
function expectClean(): void {
  expect(fresh['polluted']).toBeUndefined()
  expect(fresh['allow']).toBeUndefined()
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(untouched)
}

afterEach(() => {
  Reflect.deleteProperty(Object.prototype, 'polluted')
  Reflect.deleteProperty(Object.prototype, 'allow')
})

eachFramework.describe('keys that name the prototype of every object', (kind) => {
  it('poison nothing, in a body, a path, a query, a header or a cookie of any route', async () => {
    const host = await openHost({ ...withoutLimits, authorizer: { check: async () => true } }, kind)
    const raw = rawClient(host.url)
    const { bearer } = await administrator(host)
    const failed: unknown[] = []
    for (const { id, method, path, surfaces } of operations) {
      const [surface = 'operator'] = surfaces
      const url = path.replace('{surface}', surface).replaceAll(/\{\w+\}/g, '__proto__')
      const headers = {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        cookie: '__proto__=polluted; constructor=x; __Host-op_refresh=__proto__',
        __proto__: 'polluted',
      }
      for (const body of method === 'GET' ? [''] : bodies) {
        const query = '?__proto__[polluted]=yes&constructor.prototype.polluted=yes&__proto__=x'
        const reply = await raw(method, `${url}${query}`, { headers, body })
        if (reply.status >= 500) failed.push([id, body, reply.status])
        expectClean()
      }
    }
    expect(failed).toEqual([])
  })
})

describe('what is kept under names of a caller’s choice', () => {
  it('slugs, fields and keys of a configuration are refused or stored as text', async () => {
    const host = await configHost()
    const slugs = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']
    const before = await host.raw()
    for (const name of slugs) {
      const texts = [
        `{"recordLists":[{"field":"hooks","create":["${name}"]}]}`,
        `{"recordLists":[{"field":"${name}","create":["a"]}]}`,
        `{"config":{"hooks.${name}.url":"u"}}`,
        `{"config":{"${name}":"u"}}`,
        `{"config":{"hooks.__items":"${name}"}}`,
      ]
      for (const text of texts) {
        const reply = await host.patch(text)
        expect([text, reply.status < 500]).toEqual([text, true])
        expectClean()
      }
      expect((await host.get(`/${name}`)).status).toBe(404)
      expect((await host.get(`/mail/environments/${name}`)).status).toBe(404)
    }
    const { values } = await host.raw()
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype)
    const added = Object.keys(values).filter((key) => !(key in before.values))
    for (const key of added) expect(key).toMatch(/^hooks\.(__items|[a-z-]+\.\w+)$/)
    expect((await host.get('/mail/environments/production')).status).toBe(200)
  })

  it('the profile of a provider adds nothing to an account', async () => {
    const host = await oauthHost()
    const evil = JSON.parse(`{"__proto__":${planted},"constructor":{"prototype":${planted}}}`)
    host.stub.forge({ claims: evil })
    const account = { subject: '1815', email: 'ada@example.org', verified: true }
    const back = await host.signIn('client', 'google', account)
    expect(locationOf(back)).not.toContain('error')
    const made = await storedUser(host, 'client', account.email)
    expect([made.systemRole, Object.hasOwn(made, 'polluted')]).toEqual(['guest', false])
    expectClean()
    const user = await person(host, 'client')
    expect(await host.auth.client.users.get(user.id)).not.toHaveProperty('polluted')
  })
})
