// What elements in the sources become calls of; the bundler gives it to every module.

export { createElement, Fragment } from 'preact';
