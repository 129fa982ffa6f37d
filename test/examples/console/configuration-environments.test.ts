import { describe, expect, it } from 'vitest'
import { shop } from '../../../examples/console/host/shop-module.js'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { addApp, codeField } from './authenticator-app.js'
import {
  addElement,
  administratorAt,
  controlOf,
  rowOf,
  save,
  settingsOf,
} from './configuration-steps.js'
import { consoleRigs, expectAccessible, picture, seeHeading, signIn } from './console-rig.js'

const start = consoleRigs()

describe.skipIf(isChromiumMissing)('environments at the console, in chromium', () => {
  it('are switched once their validator agrees, and a restart is asked for', async () => {
    const rig = await start()
    const page = await administratorAt(rig, '')
    await page.getByRole('link', { name: 'shop' }).click()
    await seeHeading(page, 'Environments')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Activate rehearsal' }).click()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page.getByText('"paymentKey" is needed before').waitFor()
    await page.getByRole('link', { name: 'rehearsal', exact: true }).click()
    await page.getByText('This environment is not active').waitFor()
    await controlOf(page, 'paymentKey').fill('rehearsal-payment-key')
    await save(page, 2)
    await page.getByRole('link', { name: 'shop' }).click()
    await page.getByRole('button', { name: 'Activate rehearsal' }).click()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page.getByText('rehearsal is active now.').waitFor()
    await page.getByText('A restart is needed').waitFor()
    await expectAccessible(page)
    await picture(page, 'configuration-environments')
    expect((await rig.host.auth.config.read(shop)).paymentKey).toBe('rehearsal-payment-key')
    await page.getByRole('link', { name: 'Configuration' }).first().click()
    await page.getByRole('row', { name: 'shop rehearsal Needed' }).waitFor()
  })

  it('copy their values, but for the secrets', async () => {
    const rig = await start()
    const page = await settingsOf(rig, '/shop/live')
    await controlOf(page, 'title').fill('Copied title')
    await controlOf(page, 'paymentKey').fill('payment-key-of-live')
    await addElement(page, 'deliveryZones', 'North')
    await controlOf(page, 'deliveryZones.north.countries').fill('no')
    await controlOf(page, 'deliveryZones.north.price').fill('12')
    await save(page, 2)
    await page.goto(`${rig.host.operatorUrl}/configuration/shop/rehearsal`)
    await page.getByRole('button', { name: 'Copy the values of live' }).click()
    await page.getByText('Secrets are not copied: enter them here.').waitFor()
    expect(await controlOf(page, 'title').inputValue()).toBe('Copied title')
    await rowOf(page, 'paymentKey').getByText('Not set').waitFor()
    await save(page, 2)
    await page.getByRole('group', { name: 'North' }).waitFor()
    expect(await controlOf(page, 'deliveryZones.north.price').inputValue()).toBe('12')
  })

  it('have a history that shows what each revision changed, and nothing of secrets', async () => {
    const rig = await start()
    const page = await settingsOf(rig, '/shop/live', { width: 'narrow' })
    await controlOf(page, 'title').fill('First title')
    await controlOf(page, 'paymentKey').fill('payment-key-of-live')
    await save(page, 2)
    await controlOf(page, 'title').fill('Second title')
    await save(page, 3)
    await page.getByRole('link', { name: 'History' }).click()
    const third = page.getByRole('region', { name: 'Revision 3' })
    await third.getByText('by you').waitFor()
    expect(await third.getByRole('row').innerText()).toMatch(/^Title\s+title\s+First .*\s+Second/)
    const second = page.getByRole('region', { name: 'Revision 2' })
    const secret = second.getByRole('row', { name: /^Setting Key at the payment provider/ })
    await secret.getByText('set, replaced or cleared').waitFor()
    await page.getByRole('region', { name: 'Revision 1' }).getByText('by the library').waitFor()
    expect(await page.content()).not.toContain('payment-key-of-live')
    await expectAccessible(page)
    await picture(page, 'configuration-history')
  })

  it('say what is missing to an operator without the permission', async () => {
    const rig = await start()
    await rig.account('operator', 'bob@example.org')
    const page = await rig.open('operator', '/configuration')
    await signIn(page, 'bob@example.org')
    await page.getByText('It needs the permission system.modules.read.').waitFor()
    await expectAccessible(page)
  })

  it('ask for a fresh second factor where the host wants it', async () => {
    const rig = await start({ adminStepUp: true })
    const page = await administratorAt(rig, '')
    const app = await addApp(rig, page)
    await rig.clock.advance(16 * 60_000)
    await page.getByRole('link', { name: 'Configuration' }).click()
    await page.getByRole('link', { name: 'shop' }).click()
    await page.getByRole('link', { name: 'live', exact: true }).click()
    await controlOf(page, 'title').fill('Proved title')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
    await expectAccessible(page)
    expect((await rig.host.auth.config.read(shop)).title).toBe('Corner shop')
    await codeField(page).fill(await app.nextCode())
    await page.getByRole('button', { name: 'Confirm', exact: true }).click()
    await page.getByText('Saved as revision 2.').waitFor()
    expect((await rig.host.auth.config.read(shop)).title).toBe('Proved title')
  })
})
