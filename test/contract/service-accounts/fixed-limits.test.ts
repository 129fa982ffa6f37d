import { expect, it } from 'vitest'
import { defineModule } from '../../../src/config/index.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import {
  accountsPath,
  issuedIn,
  prove,
  rotate,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { configHost } from '../config/config-host.js'

const many = defineModule({
  name: 'many',
  environments: ['production'],
  fields: [
    { key: 'sender', label: 'Sender', type: 'FieldString', group: 'Many' },
    {
      key: 'hooks',
      label: 'Hooks',
      type: 'FieldRecordList',
      group: 'Many',
      max: 1000,
      items: [{ key: 'url', label: 'URL', type: 'FieldString' }],
    },
  ],
})

it('two credentials of 32 bytes, a proof of five minutes, a cache of 30 seconds, 50 elements', async () => {
  const host = await configHost({ modules: [many] })

  // Five minutes, to the millisecond.
  const who = await enrolled(host, 'operator')
  await prove(host, who)
  await host.auth.close()
  await host.clock.advance(5 * 60_000 - 1)
  const account = await serviceAccount(host, who)
  await host.clock.advance(1)
  const body = { name: 'Another' }
  const late = await host.send('POST', accountsPath, { bearer: who.bearer, body })
  expect(outcomeOf(late)).toBe('403 step_up_required')

  // Two that are active, each of 32 bytes that are its own.
  await prove(host, who)
  const second = issuedIn(await rotate(host, who, account.id))
  const secrets = [account, second].map(({ clientSecret }) => {
    expect(clientSecret).toMatch(/^sas_/)
    return Buffer.from(clientSecret.slice(4), 'base64url')
  })
  expect(secrets.map(({ length }) => length)).toEqual([32, 32])
  expect(secrets[0]?.equals(secrets[1] ?? Buffer.alloc(0))).toBe(false)
  const third = await rotate(host, who, account.id)
  expect(third.status).toBe(409)

  // Whatever `max` says.
  const { bearer } = who
  const path = '/v1/admin/modules/many/environments/production'
  const create = Array.from({ length: 51 }, (_, index) => `e-${index}`)
  const patch = (slugs: readonly string[]) => {
    const recordLists = [{ field: 'hooks', create: slugs, remove: [] }]
    return host.send('PATCH', path, { bearer, body: { recordLists } })
  }
  expect(outcomeOf(await patch(create))).toBe('422 config.too_many_elements')
  expect(outcomeOf(await patch(create.slice(1)))).toBe('200')
  expect(outcomeOf(await patch(['one-more']))).toBe('422 config.too_many_elements')

  // What another process wrote is seen after 30 seconds, and not before.
  const sender = async () => (await host.auth.config.read(many)).sender
  expect(await sender()).toBe('')
  const { environments } = moduleCollectionsOf(host.backend.store, '')
  const seen = await environments.get('many/production')
  if (seen === null) throw new Error('no environment')
  const next = { revision: seen.revision + 1, values: { ...seen.values, sender: 'elsewhere' } }
  await environments.update(seen.id, { revision: seen.revision }, next)
  await host.auth.close()
  await host.clock.advance(29_999)
  expect(await sender()).toBe('')
  await host.clock.advance(1)
  expect(await sender()).toBe('elsewhere')
})
