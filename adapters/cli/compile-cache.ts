import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Modules that are loaded from here on are compiled once and not at every start, and what a server has run before needs no
// compiling when it is first asked. It lies where nobody else writes: a program that could write it could have the server run what
// they like, which rules out the folder for temporary files that Node would take. Older versions of Node do not know it.
const { XDG_CACHE_HOME: caches = join(homedir(), '.cache') } = process.env
module.enableCompileCache?.(join(caches, 'portcullis', 'compiled'))
