import { createClient } from 'postern/client'

/** For the pages in the browser. On the server, where pages are rendered first, it sends nothing. */
export const client = createClient({ surface: 'client' })
