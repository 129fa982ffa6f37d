import { describe, expect, it } from 'vitest'
import { shop } from '../../../examples/console/host/shop-module.js'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { addElement, controlOf, rowOf, save, settingsOf } from './configuration-steps.js'
import { type ConsoleRig, consoleRigs, expectAccessible, picture } from './console-rig.js'

const start = consoleRigs()

/** Two operators with the same revision in view. */
async function twoOperators(rig: ConsoleRig, path: string) {
  const ada = await settingsOf(rig, path)
  const bob = await settingsOf(rig, path, { email: 'bob@example.org' })
  return { ada, bob }
}

describe.skipIf(isChromiumMissing)('two operators at the console, in chromium', () => {
  it('of a value that both changed both are shown, and each is taken or kept', async () => {
    const rig = await start()
    const { ada, bob } = await twoOperators(rig, '/shop/live')
    await ada.getByLabel('Title', { exact: true }).fill('Title of Ada')
    await controlOf(ada, 'minimumOrder').fill('20')
    await controlOf(ada, 'terms').fill('Terms of Ada')
    await save(ada, 2)

    await controlOf(bob, 'title').fill('Title of Bob')
    await controlOf(bob, 'minimumOrder').fill('30')
    await controlOf(bob, 'currency').selectOption('USD')
    await bob.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = bob.getByRole('dialog', { name: 'Changed meanwhile' })
    const title = dialog.getByRole('group', { name: 'Title' })
    await title.getByLabel('Take the stored value: Title of Ada').waitFor()
    await expectAccessible(bob)
    await picture(bob, 'configuration-conflict')
    await title.getByLabel('Keep my value: Title of Bob').check()
    const order = dialog.getByRole('group', { name: 'Smallest order' })
    expect(await order.getByLabel('Take the stored value: 20').isChecked()).toBe(true)
    expect(await dialog.getByRole('group').count()).toBe(2)
    await dialog.getByRole('button', { name: 'Go on' }).click()
    await bob.getByText('Revision 2 was saved meanwhile').waitFor()
    expect(await controlOf(bob, 'terms').inputValue()).toBe('Terms of Ada')
    expect(await controlOf(bob, 'minimumOrder').inputValue()).toBe('20')
    await save(bob, 3)
    expect(await rig.host.auth.config.read(shop)).toMatchObject({
      title: 'Title of Bob',
      minimumOrder: 20,
      currency: 'USD',
      terms: 'Terms of Ada',
    })
  })

  it('a secret that both replaced is taken or kept unseen', async () => {
    const rig = await start()
    const { ada, bob } = await twoOperators(rig, '/shop/live')
    await controlOf(ada, 'paymentKey').fill('payment-key-of-ada')
    await save(ada, 2)
    await controlOf(bob, 'paymentKey').fill('payment-key-of-bob')
    await bob.getByRole('button', { name: 'Save', exact: true }).click()
    await bob.getByLabel('Take the secret that is stored now').waitFor()
    expect(await bob.content()).not.toContain('payment-key-of-ada')
    await bob.getByRole('button', { name: 'Go on' }).click()
    await bob.getByText('Revision 2 was saved meanwhile').waitFor()
    await rowOf(bob, 'paymentKey').getByText('Set', { exact: true }).waitFor()
    expect((await rig.host.auth.config.read(shop)).paymentKey).toBe('payment-key-of-ada')
  })

  it('changes of different values need no choice, and are saved at the second try', async () => {
    const rig = await start()
    const { ada, bob } = await twoOperators(rig, '/shop/live')
    await controlOf(ada, 'title').fill('Title of Ada')
    await save(ada, 2)
    await controlOf(bob, 'currency').selectOption('USD')
    await bob.getByRole('button', { name: 'Save', exact: true }).click()
    await bob.getByText('Your changes stand on top of it: save again.').waitFor()
    expect(await bob.getByRole('dialog').count()).toBe(0)
    await save(bob, 3)
    const stored = await rig.host.auth.config.read(shop)
    expect(stored).toMatchObject({ title: 'Title of Ada', currency: 'USD' })
  })

  it('an element that was removed there and edited here is left removed or added again', async () => {
    const rig = await start()
    const before = await settingsOf(rig, '/shop/live', { email: 'eve@example.org' })
    for (const name of ['North', 'South']) {
      await addElement(before, 'deliveryZones', name)
      const slug = name.toLowerCase()
      await controlOf(before, `deliveryZones.${slug}.countries`).fill(slug)
      await controlOf(before, `deliveryZones.${slug}.price`).fill('4')
    }
    await save(before, 2)
    const { ada, bob } = await twoOperators(rig, '/shop/live')
    for (const name of ['North', 'South']) {
      await ada.getByRole('button', { name: `Remove ${name}` }).click()
    }
    await save(ada, 3)
    await controlOf(bob, 'deliveryZones.north.price').fill('7')
    await controlOf(bob, 'deliveryZones.south.price').fill('9')
    await bob.getByRole('button', { name: 'Save', exact: true }).click()
    const north = bob.getByRole('group', { name: 'Delivery zones › North' })
    await north.getByLabel('Add it again, with my values').check()
    await bob.getByRole('button', { name: 'Go on' }).click()
    await bob.getByText('Revision 3 was saved meanwhile').waitFor()
    await save(bob, 4)
    const { deliveryZones } = await rig.host.auth.config.read(shop)
    expect(deliveryZones).toMatchObject([{ slug: 'north', countries: 'north', price: 7 }])
    expect(deliveryZones).toHaveLength(1)
  })
})
