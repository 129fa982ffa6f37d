import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { consoleRigs, expectAccessible, password, picture, seeHeading } from './console-rig.js'
import { getNamed } from './named-host.js'

const start = consoleRigs()
const email = 'ada@example.org'

describe.skipIf(isChromiumMissing)('the mails of the console, in chromium', () => {
  it('are shown as text and as HTML in the language of the browser, and their button leads on', async () => {
    const rig = await start()
    const page = await rig.open('client', '/register')
    await page.context().setExtraHTTPHeaders({ 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' })
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await seeHeading(page, 'Open the link in the mail')
    await page.getByRole('link', { name: 'Mails of this demo' }).click()
    await page.getByText('Bestätigen Sie Ihre E-Mail-Adresse').waitFor()
    await page.getByText('Show as text').click()
    await page.getByText('Adresse bestätigen:\nhttp').waitFor()
    await expectAccessible(page)
    await picture(page, 'mails')
    const edge = 'document.querySelector("h1").getBoundingClientRect()'
    expect(await page.evaluate(`${edge}.left >= 16 && ${edge}.top >= 16`)).toBe(true)
    await page.getByRole('link', { name: 'Show as HTML' }).click()
    const button = page.getByRole('link', { name: 'Adresse bestätigen' })
    const blue = 'getComputedStyle(document.querySelector(".button")).backgroundColor'
    expect(await page.evaluate(blue)).toBe('rgb(11, 87, 208)')
    await button.click()
    await seeHeading(page, 'Confirm your address')
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByText('Your address is confirmed.').waitFor()
  })
})

describe('the pages of mails', () => {
  it('let a mail bring its styles and load nothing, and know no mail by another number', async () => {
    const { host } = await start()
    const to = 'ada@example.org'
    await host.auth.client.users.create({ email: to, emailVerified: true, name: 'Ada <b>' })
    await fetch(`${host.clientUrl}/v1/auth/client/password/forgot`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: to }),
    })
    const mail = () => getNamed(host.clientUrl, '/demo/mails/1')
    await expect.poll(async () => (await mail()).status).toBe(200)
    const { text, headers } = await mail()
    expect(text).toContain('Ada &lt;b&gt;')
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
    for (const other of ['2', '01', 'x']) {
      expect((await getNamed(host.clientUrl, `/demo/mails/${other}`)).status).toBe(404)
    }
  })
})
