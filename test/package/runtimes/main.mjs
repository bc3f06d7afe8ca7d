import { story } from './program.mjs'

console.log(await story())
