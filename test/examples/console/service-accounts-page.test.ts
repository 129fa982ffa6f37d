import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { httpClient, textOf } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import {
  type ConsoleRig,
  consoleRigs,
  expectAccessible,
  picture,
  seeHeading,
} from './console-rig.js'
import {
  agree,
  proveByApp,
  type SeatedOperator,
  seatedAdmin,
  settled,
  visit,
} from './operator-steps.js'

const start = consoleRigs()

interface Credential {
  readonly clientId: string
  readonly clientSecret: string
}

/** Reads the credential of the dialog, and closes it: it is shown this once. */
async function storedSecret({ page }: SeatedOperator): Promise<Credential> {
  await seeHeading(page, 'Store this secret now')
  await expectAccessible(page)
  const [clientId = '', clientSecret = ''] = await page
    .getByRole('dialog')
    .locator('code')
    .allInnerTexts()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  // A dialog leaves the page by an event, a moment after it is closed.
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(clientSecret)
  return { clientId, clientSecret }
}

/** What the token endpoint says to a credential. */
async function grantOf(rig: ConsoleRig, credential: Credential): Promise<string> {
  const body = { grantType: 'client_credentials', ...credential }
  // Served at every name; not every resolver knows `operator.localhost`.
  return outcomeOf(await httpClient(rig.host.clientUrl)('POST', '/v1/auth/token', { body }))
}

describe.skipIf(isChromiumMissing)('service accounts at the console, in chromium', () => {
  it('are created, rotated without a gap, disabled and renamed', async () => {
    const rig = await start()
    const admin = await seatedAdmin(rig)
    const { page } = admin
    await visit(page, 'Service accounts')
    await page.getByText('There is no service account yet.').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Name').fill('Nightly export')
    await page.getByRole('button', { name: 'Create' }).click()
    await proveByApp(admin)
    const first = await storedSecret(admin)
    expect(await grantOf(rig, first)).toBe('200')
    await seeHeading(page, 'Service account')
    await settled(page)
    await page.getByRole('button', { name: 'Issue a credential' }).click()
    const second = await storedSecret(admin)
    await page.getByText('Two are active, which is the most.').waitFor()
    await picture(page, 'service-account')
    expect(await page.getByRole('button', { name: 'Issue a credential' }).count()).toBe(0)
    expect([await grantOf(rig, first), await grantOf(rig, second)]).toEqual(['200', '200'])
    await page.getByRole('button', { name: `Revoke ${first.clientId}` }).click()
    await agree(page, 'Revoke')
    await page.getByText('The credential is revoked.').waitFor()
    expect([await grantOf(rig, first), await grantOf(rig, second)]).toEqual([
      '401 invalid_client',
      '200',
    ])
    await settled(page)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Disable …' }).click()
    await agree(page, 'Disable')
    await page.getByText('Nightly export is disabled.').waitFor()
    expect(await grantOf(rig, second)).toBe('401 invalid_client')
    await page.getByText('Change the name').click()
    await page.getByLabel('Name').fill('Hourly export')
    await page.getByRole('button', { name: 'Save the name' }).click()
    await page.getByText('The name is saved.').waitFor()
    await page.getByRole('link', { name: 'All service accounts' }).click()
    await page.getByRole('row', { name: 'Hourly export disabled 1 of 2 active' }).waitFor()
  })

  it('may do what a role says, at once', async () => {
    const rig = await start()
    const { auth, clientUrl } = rig.host
    const made = await auth.operator.serviceAccounts.create({ name: 'Reader' })
    if (!made.created) throw new Error('not created')
    const { clientId, clientSecret } = made.credential
    const body = { grantType: 'client_credentials', clientId, clientSecret: clientSecret.reveal() }
    const granted = await httpClient(clientUrl)('POST', '/v1/auth/token', { body })
    const authorization = `Bearer ${textOf(granted.json(), 'accessToken')}`
    await auth.operator.roles.define({ name: 'reader', permissions: ['console.users.read'] })
    const admin = await seatedAdmin(rig, 'narrow')
    const { page } = admin
    const asked = JSON.stringify({ headers: { authorization } })
    const read = () =>
      page.evaluate<number>(`fetch('/api/users/client', ${asked}).then(({ status }) => status)`)
    expect(await read()).toBe(403)
    await visit(page, 'Service accounts')
    await page.getByRole('link', { name: 'Reader' }).click()
    await seeHeading(page, 'Service account')
    await page.getByText('Give a role').click()
    await page.getByLabel('Role', { exact: true }).selectOption('reader')
    await page.getByRole('button', { name: 'Give the role' }).click()
    await proveByApp(admin)
    await page.getByText('Reader has the role reader.').waitFor()
    expect(await read()).toBe(200)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Take away the role reader' }).click()
    await page.getByText('No role is held.').waitFor()
    expect(await read()).toBe(403)
  })
})
