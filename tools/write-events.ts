import { writeFileSync } from 'node:fs'
import { currentEventsPage } from './events/current-events-page.js'

writeFileSync(new URL('../docs/events.md', import.meta.url), currentEventsPage())
