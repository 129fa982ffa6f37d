import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { type BuiltPackage, buildPackage } from '../support/package/build-package.js'
import { command } from '../support/package/packed-package.js'
import { shownByPage } from './page-config.js'

const esbuild = fileURLToPath(new URL('../../node_modules/esbuild/bin/esbuild', import.meta.url))

let built: BuiltPackage

beforeAll(async () => {
  // With what else the package ships, because chunks are shared.
  built = await buildPackage({
    index: 'src/index.ts',
    config: 'src/config/index.ts',
    secrets: 'src/config/secrets.ts',
    page: 'test/package/page-config.ts',
  })
})

afterAll(() => built?.remove())

/** As a host's bundler makes it of what the package ships. It fails where a module of Node is reached. */
async function bundle(file: string, ...more: readonly string[]): Promise<string> {
  const out = join(dirname(file), 'bundled.js')
  const form = ['--bundle', '--platform=browser', '--format=esm', `--outfile=${out}`, ...more]
  await command(dirname(file), esbuild, file, ...form)
  return readFileSync(out, 'utf8')
}

const arrivals = visitors()

describe.skipIf(isChromiumMissing)('postern/config in chromium', () => {
  it('an administration page works with the same rules, and finds the same', async () => {
    const script = await bundle(built.file('page'))
    const page = await (await arrivals.arrive()).newPage()
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    // A page has loaded once its modules have run. A tag that is added later promises no such thing.
    await page.setContent(`<script type="module">${script}</script>`)
    const shown = await page.evaluate('shownByPage()')
    expect(errors).toEqual([])
    expect(shown).toEqual(JSON.parse(JSON.stringify(shownByPage())))
    expect(shown).toMatchObject({
      refused: ['retries', 'mail.value_out_of_range'],
      settings: { timeout: 30_000 },
      shown: { secretsSet: ['password'] },
    })
  })
})

describe('postern/config for a browser', () => {
  it('reaches nothing of Node, whatever is used of it', async () => {
    const script = await bundle(built.file('config'))
    expect(script).toContain('planPatch')
    expect(script).not.toMatch(/node:|require\(|\bBuffer\b|\bprocess\./)
  })

  it('gives a page what it uses of it, and leaves the rest out', async () => {
    const all = await bundle(built.file('config'), '--minify')
    const page = join(dirname(built.file('config')), 'one.js')
    writeFileSync(page, "export { mintSlug } from './config.js'\n")
    expect((await bundle(page, '--minify')).length).toBeLessThan(all.length / 5)
  })
})
