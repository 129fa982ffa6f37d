import { expect, test } from 'vitest'
import { readIdleWindow } from '../../src/settings/login-and-sessions-settings.js'
import { authSettingDeclarations } from '../../src/settings/settings.js'

const minute = 60_000
const week = 7 * 24 * 60 * minute
const idle = (value?: string) => readIdleWindow({ JWT_REFRESH_TOKEN_EXPIRY: value })

test('the idle window is 7 days unless the environment says otherwise', () => {
  expect(readIdleWindow({})).toEqual({ ms: week })
  expect(idle('')).toEqual({ ms: week })
  expect(idle('2h')).toEqual({ ms: 120 * minute })
  expect(idle('3600')).toEqual({ ms: 60 * minute })
  expect(idle('1m')).toEqual({ ms: minute })
  expect(idle('400d')).toEqual({ ms: 400 * 24 * 60 * minute })
})

test.each(['soon', '-1h', '7 days', '1h30'])('%s is 7 days, with a warning', (value) => {
  expect(idle(value)).toEqual({ ms: week, warning: expect.stringContaining('using 7d') })
})

test.each(['59s', '0', '59999ms'])('%s is raised to one minute, with a warning', (value) => {
  expect(idle(value)).toEqual({ ms: minute, warning: expect.stringContaining('using 1m') })
})

test('it is no setting', () => {
  const variables = authSettingDeclarations.map(({ envVar }) => envVar)
  expect(variables).not.toContain('JWT_REFRESH_TOKEN_EXPIRY')
})
