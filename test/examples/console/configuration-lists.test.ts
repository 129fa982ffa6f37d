import { describe, expect, it } from 'vitest'
import { shop } from '../../../examples/console/host/shop-module.js'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { addElement, controlOf, rowOf, save, settingsOf } from './configuration-steps.js'
import { consoleRigs, expectAccessible } from './console-rig.js'

const start = consoleRigs()

describe.skipIf(isChromiumMissing)('record lists at the console, in chromium', () => {
  it('elements are added, edited, renamed and removed', async () => {
    const rig = await start()
    const page = await settingsOf(rig, '/shop/live')
    const zones = async () => (await rig.host.auth.config.read(shop)).deliveryZones
    const key = (name: string) => `deliveryZones.home-country.${name}`
    await addElement(page, 'deliveryZones', 'Home country')
    expect(await page.evaluate('document.activeElement.value')).toBe('Home country')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await rowOf(page, key('countries')).getByText('This is required').waitFor()
    await controlOf(page, key('countries')).fill('de, at')
    await controlOf(page, key('price')).fill('4')
    await controlOf(page, key('express')).check()
    await controlOf(page, key('carrierToken')).fill('token-of-the-carrier')
    await expectAccessible(page)
    await save(page, 2)
    const home = { slug: 'home-country', label: 'Home country', countries: 'de, at', price: 4 }
    const more = { express: true, carrierToken: 'token-of-the-carrier' }
    expect(await zones()).toEqual([{ ...home, ...more }])
    expect(await page.content()).not.toContain('token-of-the-carrier')

    await controlOf(page, key('__label')).fill('Germany and Austria')
    await save(page, 3)
    await page.getByRole('group', { name: 'Germany and Austria' }).waitFor()
    expect(await zones()).toEqual([{ ...home, ...more, label: 'Germany and Austria' }])

    await page.getByRole('button', { name: 'Remove Germany and Austria' }).click()
    await page.getByText('Removed when you save.').waitFor()
    await page.getByRole('button', { name: 'Put back Germany and Austria' }).click()
    await page.getByText('Nothing has changed.').waitFor()
    await page.getByRole('button', { name: 'Remove Germany and Austria' }).click()
    await save(page, 4)
    expect(await zones()).toEqual([])
    await rowOf(page, 'deliveryZones').getByText('There are no elements.').waitFor()
  })

  it('a name that makes no slug, or one that is taken, adds nothing and says why', async () => {
    const page = await settingsOf(await start(), '/shop/live', { width: 'narrow' })
    await addElement(page, 'deliveryZones', '!!')
    await rowOf(page, 'deliveryZones').getByText('has no letter or digit').waitFor()
    await addElement(page, 'deliveryZones', 'North')
    await addElement(page, 'deliveryZones', 'north')
    await rowOf(page, 'deliveryZones').getByText('There is one of the name "north"').waitFor()
    await page.getByRole('button', { name: 'Remove North' }).click()
    await page.getByText('Nothing has changed.').waitFor()
    expect(await page.locator('.element').count()).toBe(0)
  })
})
