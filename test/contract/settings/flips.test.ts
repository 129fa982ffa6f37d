import { describe, expect, it } from 'vitest'
import { authSettingDeclarations, type SettingKey } from '../../../src/settings/settings.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import type { Effect } from './effect.js'
import { effects } from './effects.js'
import { type Change, settingsHost } from './settings-host.js'

const changeOf = (key: SettingKey, change: string | Change): Change =>
  typeof change === 'string' ? { config: { [key]: change } } : change

/** There, and back again from the last to the first. */
function journey({ when }: Effect): Effect['when'] {
  return [...when, ...when.slice(0, 2)]
}

describe('each of the 63 settings', () => {
  it('is shown to have its effect', () => {
    const declared = authSettingDeclarations.map(({ key }) => key)
    expect(declared).toHaveLength(63)
    expect(Object.keys(effects).sort()).toEqual([...declared].sort())
  })
})

describe.each(authSettingDeclarations)('$key, changed over HTTP,', ({ key, surface: affected }) => {
  eachSurface.it('is in force at once, and back again', async (surface) => {
    const effect = effects[key]
    if (effect === undefined) throw new Error(`nothing shows ${key}`)
    const host = await settingsHost(effect.options)
    // What is seen where it has no say, whatever it is set to.
    const elsewhere = await effect.see(host, surface)
    const isAffected = affected === 'both' || affected === surface
    for (const [change, outcome] of journey(effect)) {
      await host.set(changeOf(key, change))
      expect(await effect.see(host, surface)).toBe(isAffected ? outcome : elsewhere)
    }
  })
})
