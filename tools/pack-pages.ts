import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packedPage } from './release/packed-page.js'

/** The pages as the repository has them, while a tarball is made. */
const kept = '.results/pages'

const manifest: { readonly files: readonly string[] } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)
/** What npm packs, whatever the manifest says. */
const always = ['README.md', 'LICENSE', 'package.json']

const isPacked = (path: string): boolean =>
  [...always, ...manifest.files].some((entry) => path === entry || path.startsWith(`${entry}/`))

/** Also after a packing that was interrupted: then the kept pages are the right ones. */
function restore(): void {
  if (existsSync(kept)) cpSync(kept, '.', { recursive: true })
  rmSync(kept, { recursive: true, force: true })
}

restore()
if (process.argv[2] !== 'restore') {
  const pages = globSync(['*.md', 'docs/**/*.md']).filter(isPacked)
  for (const page of pages) cpSync(page, join(kept, page))
  for (const page of pages) {
    writeFileSync(page, packedPage(readFileSync(page, 'utf8'), page, isPacked))
  }
}
