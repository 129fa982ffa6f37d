import { expect, it } from 'vitest'
import { migratedHost } from '../../support/cli/sound-host.js'
import { planted } from './planted.js'

it('has nothing to say of a host that is well', async () => {
  const place = await migratedHost()
  expect(await place.run('doctor')).toEqual({ code: 0, out: '', err: 'Nothing to fix.' })
  expect(JSON.parse((await place.run('doctor', '--json')).out)).toEqual({ findings: [] })
})

it.each(Object.entries(planted))('finds %s, and nothing else', async (_what, one) => {
  const place = await one.plant()
  const { code, out } = await place.run('doctor', '--json')
  const { findings }: { findings: { check: string; problem: string; remedy: string }[] } =
    JSON.parse(out)
  expect(findings.map(({ check, problem }) => [check, problem])).toEqual([
    [one.check, expect.stringContaining(one.says)],
  ])
  expect(findings[0]?.remedy).toMatch(/^.{10,}$/)
  expect(code).toBe(1)
  const accepted = await place.run('doctor', '--accept', one.check)
  expect(accepted).toEqual({ code: 0, out: '', err: 'Nothing to fix. 1 accepted.' })
})

it('plants two for each check that its help lists', async () => {
  const { out } = await (await migratedHost()).run('help', 'doctor')
  const counts = new Map<string, number>()
  for (const { check } of Object.values(planted)) counts.set(check, (counts.get(check) ?? 0) + 1)
  for (const [check, count] of counts) {
    expect(out).toContain(check)
    expect(count, check).toBeGreaterThanOrEqual(2)
  }
  expect(counts.size).toBe(10)
})
