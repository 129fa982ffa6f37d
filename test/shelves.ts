export type Shelf = 'fast' | 'stores' | 'browser'

/** Folders whose tests need no server, no browser and no build. */
const fastFolders = new Set([
  ...['engine', 'crypto', 'domain', 'http', 'settings', 'model', 'ports', 'stores', 'concurrency'],
  ...['setup', 'flows', 'openapi', 'contract', 'security', 'client', 'fuzz'],
])

/** Whether a test file, as `test/engine/email.test.ts`, is run with this shelf. */
export function isOnShelf(shelf: Shelf, file: string): boolean {
  const [, folder = ''] = file.split('/')
  return shelf === 'fast' && fastFolders.has(folder)
}
