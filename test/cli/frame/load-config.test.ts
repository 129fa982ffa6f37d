import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../../src/cli/frame/load-config.js'
import { Refusal } from '../../../src/cli/frame/refusal.js'
import { terminal } from '../../support/cli/terminal.js'

const options = '{ backend: {}, surfaces: {} }'
const read = { backend: {}, surfaces: {} }

async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof Refusal) return error
  throw new Error('it was not refused', { cause: error })
}

it.each([
  ['the options', options],
  ['a promise of them', `Promise.resolve(${options})`],
  ['a function that gives them', `() => (${options})`],
  ['a function that gives a promise of them', `async () => (${options})`],
])('reads %s', async (_, code) => {
  const { folder } = await terminal()
  await writeFile(join(folder, 'postern.config.mjs'), `export default ${code}`)
  expect(await loadConfig(folder, null)).toEqual(read)
})

it('prefers the file that is named, also outside of the folder', async () => {
  const [{ folder }, other] = [await terminal(), await terminal()]
  await writeFile(join(folder, 'postern.config.mjs'), 'export default 1')
  const named = join(other.folder, 'staging.mjs')
  await writeFile(named, `export default ${options}`)
  expect(await loadConfig(folder, named)).toEqual(read)
})

it('reads TypeScript', async () => {
  const { folder } = await terminal()
  const code = `const options: object = ${options}\nexport default options`
  await writeFile(join(folder, 'postern.config.ts'), code)
  expect(await loadConfig(folder, null)).toEqual(read)
})

it('says where it looked, and how to come by a file', async () => {
  const { folder } = await terminal()
  const { message, code } = await refusalOf(loadConfig(folder, null))
  expect(code).toBe(2)
  expect(message).toContain(`There is no postern.config.ts (.mts, .js, .mjs) in ${folder}.`)
  expect(message).toContain('postern init')
  const named = await refusalOf(loadConfig(folder, 'elsewhere.mjs'))
  expect(named.message).toBe(`There is no file ${join(folder, 'elsewhere.mjs')}.`)
})

it.each([
  ['no default export', 'export const options = 1'],
  ['something else', 'export default 1'],
  ['an object without a backend', 'export default { surfaces: {} }'],
])('refuses a file with %s', async (_, code) => {
  const { folder } = await terminal()
  await writeFile(join(folder, 'postern.config.mjs'), code)
  const refusal = await refusalOf(loadConfig(folder, null))
  expect([refusal.code, refusal.message]).toEqual([
    2,
    expect.stringContaining('must have a default export: the options of createAuth'),
  ])
})

it('hands on why a file cannot be loaded', async () => {
  const { folder } = await terminal()
  await writeFile(join(folder, 'postern.config.mjs'), 'throw new Error("DATABASE_URL is missing")')
  const { message, code } = await refusalOf(loadConfig(folder, null))
  expect(code).toBe(2)
  expect(message).toContain('DATABASE_URL is missing')
})
