import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EventGroup, eventCatalogue } from './event-catalogue.js'
import { eventsPage } from './events-page.js'
import { logLines } from './log-lines.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const filesOf = (pattern: string) => globSync(pattern, { cwd: root }).toSorted()
const textOf = (path: string) => readFileSync(`${root}${path}`, 'utf8')

/** The events of the sources. */
export function currentEvents(): readonly EventGroup[] {
  const ports = filesOf('src/ports/*.ts')
  return eventCatalogue(ports.map((path) => ({ name: basename(path), text: textOf(path) })))
}

/** What `docs/events.md` has to be. */
export function currentEventsPage(): string {
  const written = filesOf('{src,adapters}/**/*.ts').filter(
    (path) => !path.startsWith('src/testing/'),
  )
  return eventsPage(
    currentEvents(),
    written.flatMap((path) => logLines(path, textOf(path))),
  )
}
