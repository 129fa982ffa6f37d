import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import {
  consoleRigs,
  expectAccessible,
  picture,
  seeHeading,
  seeHome,
  signIn,
} from './console-rig.js'
import { adminEmail, settled, visit } from './operator-steps.js'

const start = consoleRigs()
const email = 'linus@example.org'

describe.skipIf(isChromiumMissing)('the audit log at the console, in chromium', () => {
  it('shows what the operator did, and what is searched for, page by page', async () => {
    const rig = await start()
    const { auth } = rig.host
    const admin = await rig.account('operator', adminEmail, 'super_admin')
    const linus = await rig.account('client', email)
    for (let i = 0; i < 30; i += 1) {
      await rig.clock.advance(1)
      await auth.client.users.update(
        linus,
        { name: `Linus ${i}` },
        { actorId: admin, ip: '192.0.2.7' },
      )
    }
    await rig.clock.advance(1)
    const page = await rig.open('operator', '/audit', { width: 'narrow' })
    await signIn(page, adminEmail)
    await page.getByRole('cell', { name: 'login.succeeded' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'End users' }).click()
    await page.getByText('Say whose records you look for.').waitFor()
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('Please fill this in.').waitFor()
    await page.getByLabel('E-mail address or id').fill(email)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('link', { name: 'Older records' }).waitFor()
    // On a phone the row of heads is not shown.
    expect(await page.getByRole('row').count()).toBe(25)
    await page.getByText('Details').first().click()
    await picture(page, 'audit-log')
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Older records' }).click()
    await page.getByRole('cell', { name: 'account.created' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(6)
    await page.getByLabel('Event').fill('created')
    await page.getByRole('button', { name: 'Search' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(1)
    await page.getByLabel('Outcome').selectOption('failure')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('No record matches.').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: email }).click()
    await seeHeading(page, 'User')
    await page.getByRole('link', { name: 'Audit log of this user' }).click()
    await page
      .getByRole('link', { name: `${adminEmail}` })
      .first()
      .waitFor()
    await page.getByLabel('E-mail address or id').fill('none@example.org')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('There is no such user.').waitFor()
    await expectAccessible(page)
  })
})

describe.skipIf(isChromiumMissing)('own sessions at the console, in chromium', () => {
  it('all others are ended, and this one goes on', async () => {
    const rig = await start()
    await rig.account('operator', adminEmail)
    const other = await rig.open('operator', '/')
    await signIn(other, adminEmail)
    await seeHome(other, 'operator')
    const page = await rig.open('operator', '/')
    await signIn(page, adminEmail)
    await visit(page, 'Sessions')
    await page.getByRole('button', { name: 'End all others' }).click()
    await page.getByText('Your other sessions are ended.').waitFor()
    await settled(page)
    expect(await page.getByRole('button', { name: 'End all others' }).count()).toBe(0)
    await expectAccessible(page)
    await other.getByRole('link', { name: 'Security' }).click()
    await seeHeading(other, 'Sign in')
    await page.reload()
    await seeHeading(page, 'Sessions')
  })
})
