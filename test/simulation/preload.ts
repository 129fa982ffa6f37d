import { globSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Loads what the library loads at its first use: it comes from the disk, in its own time, and the first history that needs
 * it would be another the second time.
 */
export async function preload(): Promise<void> {
  const files = globSync('src/{crypto,domain,engine,http,operations,settings}/**/*.ts', {
    cwd: root,
  })
  for (const file of files.toSorted()) {
    await import(pathToFileURL(`${root}${file}`).href)
  }
}
