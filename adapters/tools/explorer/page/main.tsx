import { render } from 'preact'
import { Page } from './app/page.tsx'

const ROOT = document.getElementById('page')
if (ROOT) render(<Page />, ROOT)
