import { expect } from 'vitest'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { configHost, mailModule } from './config-host.js'

const minute = 60_000

eachSampleStore.it('needsRestart waits for every replica', async (kind) => {
  const host = await configHost({}, kind)
  const { backend, clock } = host
  const replica = async () => (await testAuth({ backend, clock, modules: [mailModule()] })).auth
  const needsRestart = async () => (await host.get('/mail')).json()['needsRestart']
  const [one, two] = [await replica(), await replica()]
  expect(await needsRestart()).toBe(false)
  const put = await host.change('PUT', '/active-environment', { environment: 'sandbox' })
  expect(put.json()).toMatchObject({ activeEnvironment: 'sandbox', needsRestart: true })
  // One replica after the other, as a rolling restart does it.
  await one.close()
  const three = await replica()
  expect(await needsRestart()).toBe(true)
  await two.close()
  await replica()
  await three.migrate()
  expect(await needsRestart()).toBe(true)
  // It still answers, so that the test can ask.
  await host.auth.close()
  expect(await needsRestart()).toBe(false)
  expect((await host.get('')).json()['items']).toMatchObject([
    { name: 'auth', needsRestart: false },
    { name: 'mail', needsRestart: false },
  ])
})

eachSampleStore.it('a replica that crashed counts for fifteen minutes', async (kind) => {
  const host = await configHost({ settings: { accessTokenTTL: '1h' } }, kind)
  const { backend, clock } = host
  const needsRestart = async () => (await host.get('/mail')).json()['needsRestart']
  // It has a clock of its own, which stops with it.
  await testAuth({ backend, modules: [mailModule()] })
  await host.change('PUT', '/active-environment', { environment: 'sandbox' })
  await testAuth({ backend, clock, modules: [mailModule()] })
  await host.auth.close()
  expect(await needsRestart()).toBe(true)
  await clock.advance(14 * minute)
  expect(await needsRestart()).toBe(true)
  await clock.advance(minute)
  expect(await needsRestart()).toBe(false)
})
