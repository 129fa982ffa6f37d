import { describe, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { consoleRigs, expectAccessible, picture, seeHeading, signIn } from './console-rig.js'

const start = consoleRigs()

describe.skipIf(isChromiumMissing)('I17-6 signing in at the console, in chromium', () => {
  it.each(['client', 'operator'] as const)('by a password, %s', async (surface) => {
    const rig = await start()
    await rig.account(surface, 'ada@example.org')
    const page = await rig.open(surface, '/')
    await seeHeading(page, 'Sign in')
    await expectAccessible(page)
    await picture(page, `sign-in-${surface}`)
    await signIn(page, 'ada@example.org')
    await seeHeading(page, 'Your account')
    await page.getByText('ada@example.org').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await seeHeading(page, 'Sign in')
  })
})
