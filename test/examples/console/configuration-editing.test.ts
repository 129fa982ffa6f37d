import { describe, expect, it } from 'vitest'
import { shop } from '../../../examples/console/host/shop-module.js'
import { authSettings } from '../../../src/settings/settings.js'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { controlOf, rowOf, save, settingsOf } from './configuration-steps.js'
import { consoleRigs, expectAccessible, picture } from './console-rig.js'

const start = consoleRigs()

describe.skipIf(isChromiumMissing)('editing settings at the console, in chromium', () => {
  it('all 63 settings are there, in the groups and children of their declarations', async () => {
    const page = await settingsOf(await start(), '/auth/production')
    const rows = await page.locator('.child > [data-key]').all()
    const shown = await Promise.all(rows.map((row) => row.getAttribute('data-key')))
    expect(shown.sort()).toEqual(Object.keys(authSettings).sort())
    expect(shown).toHaveLength(63)
    const groups = Object.values(authSettings).map(({ declaration }) => declaration.group)
    expect(await page.locator('.group > h2').allTextContents()).toEqual([...new Set(groups)])
    const oauth = page.getByRole('region', { name: 'OAuth Providers' })
    const children = ['google', 'microsoft', 'apple', 'github']
    expect(await oauth.locator('h3').allTextContents()).toEqual(children)
    await page.getByLabel('Find a setting').fill('microsoft tenant')
    await page.getByText('1 setting found.').waitFor()
    expect(await page.locator('.child > [data-key]:visible').count()).toBe(1)
    await expectAccessible(page)
  })

  it('a value of each type is changed and saved', async () => {
    const rig = await start()
    const page = await settingsOf(rig, '/shop/live')
    await controlOf(page, 'title').fill('Ada & Söhne')
    await page.getByRole('switch', { name: 'Takes orders' }).uncheck()
    await controlOf(page, 'currency').selectOption('GBP')
    await controlOf(page, 'basketKept').fill('720h')
    await rowOf(page, 'basketKept').getByText('= 30d').waitFor()
    await controlOf(page, 'terms').fill('One line\nand another')
    await controlOf(page, 'minimumOrder').fill('25')
    await page.getByText('6 changes are not saved.').waitFor()
    await expectAccessible(page)
    await picture(page, 'configuration')
    await save(page, 2)
    await page.getByText('Saved as revision 2.').waitFor()
    expect(await rig.host.auth.config.read(shop)).toMatchObject({
      title: 'Ada & Söhne',
      isOpen: false,
      currency: 'GBP',
      basketKept: 30 * 24 * 60 * 60 * 1000,
      terms: 'One line\nand another',
      minimumOrder: 25,
    })
    await rowOf(page, 'title').getByText('Stored').waitFor()
    await rowOf(page, 'freeDeliveryFrom').getByText('Default', { exact: true }).waitFor()
  })

  it('a secret is set, replaced, kept and cleared, and never shown', async () => {
    const rig = await start()
    const page = await settingsOf(rig, '/shop/live', { width: 'narrow' })
    const row = rowOf(page, 'paymentKey')
    const key = async () => (await rig.host.auth.config.read(shop)).paymentKey
    const input = controlOf(page, 'paymentKey')
    await row.getByText('Not set').waitFor()
    await input.fill('first-payment-key')
    await save(page, 2)
    expect(await key()).toBe('first-payment-key')
    await row.getByText('Set', { exact: true }).waitFor()
    expect(await page.content()).not.toContain('first-payment-key')
    expect(await input.inputValue()).toBe('')
    await expectAccessible(page)

    await row.getByRole('button', { name: 'Replace' }).click()
    await input.fill('second-payment-key')
    await row.getByRole('button', { name: 'Keep as it is' }).click()
    await page.getByText('Nothing has changed.').waitFor()
    await row.getByRole('button', { name: 'Replace' }).click()
    await input.fill('second-payment-key')
    await save(page, 3)
    expect(await key()).toBe('second-payment-key')

    await row.getByRole('button', { name: 'Clear' }).click()
    await row.getByText('Cleared when you save').waitFor()
    await save(page, 4)
    expect(await key()).toBe('')
    await row.getByText('Not set').waitFor()
  })

  it('a refusal stands at its setting, of a declaration and of a validator alike', async () => {
    const rig = await start()
    const page = await settingsOf(rig, '/shop/live')
    const refused = async (key: string, text: string, reason: string) => {
      await controlOf(page, key).fill(text)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('One value was refused').waitFor()
      await rowOf(page, key).getByText(reason).waitFor()
      expect(await controlOf(page, key).getAttribute('aria-invalid')).toBe('true')
      expect(await page.evaluate('document.activeElement.id')).toBe(`setting-${key}`)
      await expectAccessible(page)
      await rowOf(page, key).getByRole('button', { name: 'Undo' }).click()
    }
    await refused('minimumOrder', '5000', 'This must be a whole number from 0 to 1000.')
    await refused('basketKept', 'for ever', 'This must be a duration from 1h to 90d')
    await refused('freeDeliveryFrom', '3', 'This must not be less than the smallest order.')
    await page.getByText('Nothing has changed.').waitFor()
    expect((await rig.host.auth.config.read(shop)).freeDeliveryFrom).toBe(50)
  })

  it('a stored value goes back to its default, and none is taken for a limit that it lifts', async () => {
    const rig = await start()
    const page = await settingsOf(rig, '/auth/production')
    await controlOf(page, 'backupCodeCount').fill('12')
    await controlOf(page, 'sessionAbsoluteTTL').fill('')
    await save(page, 2)
    await rowOf(page, 'sessionAbsoluteTTL').getByText('Left empty, there is no limit.').waitFor()
    expect(await controlOf(page, 'sessionAbsoluteTTL').inputValue()).toBe('')
    for (const key of ['backupCodeCount', 'sessionAbsoluteTTL']) {
      await rowOf(page, key).getByRole('button', { name: 'Use the default' }).click()
    }
    await save(page, 3)
    expect(await controlOf(page, 'backupCodeCount').inputValue()).toBe('10')
    await rowOf(page, 'backupCodeCount').getByText('Default', { exact: true }).waitFor()
    expect(await controlOf(page, 'sessionAbsoluteTTL').inputValue()).toBe('720h')
    await rowOf(page, 'sessionAbsoluteTTL').getByText('Stored').waitFor()
  })

  it('tells of a value that comes from the environment variable', async () => {
    const page = await settingsOf(
      await start({ env: { JWT_ACCESS_TOKEN_EXPIRY: '5m' } }),
      '/auth/production',
    )
    await rowOf(page, 'accessTokenTTL')
      .getByText('Environment variable JWT_ACCESS_TOKEN_EXPIRY')
      .waitFor()
    expect(await controlOf(page, 'accessTokenTTL').inputValue()).toBe('')
  })

  it('asks before unsaved changes are left', async () => {
    const page = await settingsOf(await start(), '/shop/live')
    await controlOf(page, 'title').fill('Another shop')
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await controlOf(page, 'title').inputValue()).toBe('Another shop')
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Revision 1' }).waitFor()
  })
})
